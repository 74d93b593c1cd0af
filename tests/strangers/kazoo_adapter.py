# Runs kazoo's own tests against one server that is already there, and writes a line of JSON for each test.
# Must not know which server it is; kazoo's harness must not start one.
# Called by kazoo.ts: python3 kazoo_adapter.py HOST:PORT RESULTS SECONDS TEST...

import faulthandler
import json
import os
import signal
import socket
import sys
import threading
import time

import pytest

import kazoo.testing.harness as harness


class Relay:
    """
    What kazoo's tests take for a server they may stop and start: a way to the
    one server, which can be closed. To a client the two look alike: its
    connection breaks, and new ones are refused.
    """

    host = "127.0.0.1"

    def __init__(self, goal):
        self.goal = goal
        self.running = False
        self.client_port = 0
        self.lock = threading.Lock()
        self.pairs = set()
        self.listener = None
        self.run()

    @property
    def address(self):
        return "%s:%d" % (self.host, self.client_port)

    def run(self):
        if self.running:
            return
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((self.host, self.client_port))
        listener.listen(64)
        self.client_port = listener.getsockname()[1]
        self.listener = listener
        self.running = True
        start(self.accept, listener)

    def stop(self):
        if not self.running:
            return
        self.running = False
        # Without it accept() in the other thread would keep the port open.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        with self.lock:
            pairs = list(self.pairs)
        for pair in pairs:
            self.part(pair)

    destroy = stop

    def accept(self, listener):
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return
            start(self.join, near)

    def join(self, near):
        try:
            far = socket.create_connection(self.goal)
        except OSError:
            near.close()
            return
        pair = (near, far)
        with self.lock:
            self.pairs.add(pair)
        for end in pair:
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        start(self.pump, near, far, pair)
        self.pump(far, near, pair)

    def pump(self, source, sink, pair):
        try:
            while True:
                data = source.recv(65536)
                if not data:
                    break
                sink.sendall(data)
        except OSError:
            pass
        self.part(pair)

    def part(self, pair):
        with self.lock:
            self.pairs.discard(pair)
        for end in pair:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()


class Cluster(list):
    """As many ways as kazoo's harness has servers, all to the same server."""

    def start(self):
        for relay in self:
            relay.run()

    def stop(self):
        for relay in self:
            relay.stop()

    terminate = stop


class Recorder:
    """Gives each test its time, and writes down how it went."""

    def __init__(self, file, seconds):
        self.file = file
        self.seconds = seconds
        self.went = {}
        # While a test runs, pytest has the other one.
        self.stderr = os.fdopen(os.dup(2), "w")

    def limited(self):
        def give_up(*_):
            pytest.fail("not done in %g s" % self.seconds, pytrace=False)

        signal.signal(signal.SIGALRM, give_up)
        # Again 5 s later: the test's own tearDown() may wait for its threads.
        signal.setitimer(signal.ITIMER_REAL, self.seconds, 5)
        # Where even that is not heard: whoever reads the results sees that
        # this test has none.
        faulthandler.dump_traceback_later(
            self.seconds + 15, exit=True, file=self.stderr)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            faulthandler.cancel_dump_traceback_later()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self, item):
        self.write({"test": name(item.nodeid), "status": "started"})
        yield from self.limited()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item):
        yield from self.limited()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_teardown(self, item):
        yield from self.limited()

    def pytest_collection_modifyitems(self, items):
        for item in items:
            self.write({"test": name(item.nodeid), "status": "found"})

    def pytest_runtest_logreport(self, report):
        test = name(report.nodeid)
        went = self.went.setdefault(test, {
            "test": test, "status": "passed", "seconds": 0.0,
        })
        went["seconds"] = round(went["seconds"] + report.duration, 3)
        if report.failed and went["status"] != "failed":
            went["status"] = "failed"
            went["reason"] = reason(report)
        if report.skipped and went["status"] == "passed":
            went["status"] = "skipped"
            went["reason"] = str(report.longrepr[2])
        if report.when == "teardown":
            self.write(went)

    def pytest_collectreport(self, report):
        if report.failed:
            self.write({
                "test": name(report.nodeid), "status": "failed", "seconds": 0,
                "reason": "not loaded: " + str(report.longrepr)[-300:],
            })

    def write(self, line):
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()


def name(nodeid):
    return nodeid[nodeid.rfind("/") + 1:]


def reason(report):
    crash = getattr(report.longrepr, "reprcrash", None)
    text = str(crash.message if crash else report.longrepr)
    lines = text.strip().split("\n")
    where = " (in %s)" % report.when if report.when != "call" else ""
    return lines[0][:300] + where


def start(run, *args):
    threading.Thread(target=run, args=args, daemon=True).start()


def main():
    address, results, seconds, *tests = sys.argv[1:]
    host, port = address.rsplit(":", 1)
    goal = (host.strip("[]"), int(port))
    cluster = Cluster(Relay(goal) for _ in range(3))
    harness.get_global_cluster = lambda: cluster
    folder = os.path.join(os.path.dirname(harness.__file__), "..", "tests")
    paths = [os.path.join(os.path.realpath(folder), test) for test in tests]
    with open(results, "w") as file:
        recorder = Recorder(file, float(seconds))
        pytest.main(
            ["-q", "-p", "no:cacheprovider", "--tb=short", *paths],
            plugins=[recorder],
        )
        recorder.write({"status": "end"})
    sys.stdout.flush()
    # Not sys.exit(): it would wait for threads of tests that failed.
    os._exit(0)


main()
