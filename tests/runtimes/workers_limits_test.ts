// What workers do not allow: how it is said.
// Runs workers/probe.ts in workerd.

import { assertEquals, assertMatch } from "@std/assert";
import { TestServer } from "../../testing/mod.ts";
import { freePorts } from "../real/ports.ts";
import {
  bundle,
  startWorker,
  unchecked,
  type Worker,
} from "./workers_tools.ts";
import type { Report } from "./workers/probe.ts";

const code = await bundle("tests/runtimes/workers/probe.ts");

/** The probe, and how it is asked. */
async function probe(network?: unknown): Promise<
  AsyncDisposable & { ask(question?: unknown): Promise<Report> }
> {
  const worker: Worker = await startWorker({
    code,
    compatibilityFlags: ["nodejs_compat"],
    ...network ? { outboundService: { network } } : {},
  });
  return {
    async ask(question) {
      const body = JSON.stringify(question);
      const init = question ? { method: "POST", body } : {};
      const reply = await worker.dispatchFetch("http://worker/", init);
      const text = await reply.text();
      assertMatch(text, /^\[/);
      return JSON.parse(text);
    },
    [Symbol.asyncDispose]: () => worker.dispose(),
  };
}

const options = { connectTimeout: 1_000, sessionTimeout: 4_000 };

unchecked(
  "connect() while the module of a worker loads says that it may not",
  async () => {
    await using worker = await probe();

    const [error] = await worker.ask();

    assertEquals([error.name, error.code], ["ZooKeeperError", "GlobalScope"]);
    assertMatch(error.message, /inside a handler/);
  },
);

unchecked(
  "connect() in a worker says what a refused connection may mean",
  async () => {
    await using worker = await probe();
    const [port] = await freePorts(1);

    const report = await worker.ask({ servers: `127.0.0.1:${port}`, options });

    assertEquals(report.map(({ code }) => code), [
      "ConnectionLoss",
      "Unreachable",
      undefined,
    ]);
    assertMatch(
      report[0].message,
      /within 1000 ms: Cannot reach 127.0.0.1:\d+: refused, unknown or blocked/,
    );
  },
);

unchecked(
  "connect() in a worker that may reach public addresses alone says that it may be blocked",
  async () => {
    await using server = await TestServer.start();
    await using worker = await probe({ allow: ["public"] });

    const report = await worker.ask({ servers: server.servers, options });

    assertEquals(report[1].code, "Unreachable");
    assertMatch(report[1].message, /EACCES/);
  },
);

for (const kept of ["use", "close"]) {
  unchecked(
    `a client that a worker keeps for another request says that it cannot be kept: ${kept}`,
    async () => {
      await using server = await TestServer.start();
      await using worker = await probe();
      const { servers } = server;
      assertEquals(await worker.ask({ servers, options, kept: "keep" }), []);

      const [error] = await worker.ask({ kept });

      assertEquals([error.name, error.code], [
        "ZooKeeperError",
        "OtherRequest",
      ]);
      assertMatch(error.message, /belongs to the request/);
    },
  );
}
