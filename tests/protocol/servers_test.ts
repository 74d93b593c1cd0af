// The connect string, as a table of what users write, and the ring of servers with its pauses.
// Pure: randomness is seeded, no name is resolved.

import {
  assert,
  assertEquals,
  assertGreater,
  assertLess,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  type Address,
  formatAddress,
  fraction,
  parseServers,
  type Random,
  ServerRing,
} from "../../protocol/servers.ts";
import { seeded } from "./wire.ts";

const show = (value: unknown) => JSON.stringify(value);

/** Servers as text, for tables that can be read. */
function parsed(servers: string | readonly string[]): string {
  const { addresses, chroot } = parseServers(servers);
  return addresses.map(formatAddress).join(" ") + chroot;
}

describe("parseServers()", () => {
  const good: Array<[string | string[], string]> = [
    ["zk1", "zk1:2181"],
    ["zk1:2182", "zk1:2182"],
    ["zk1:", "zk1:2181"],
    ["zk1:1,zk2:65535,zk3", "zk1:1 zk2:65535 zk3:2181"],
    [" zk1:1 , zk2:2 ", "zk1:1 zk2:2"],
    ["zk1,\n zk2", "zk1:2181 zk2:2181"],
    ["10.0.0.1:2181", "10.0.0.1:2181"],
    ["zk_1.my-domain.example.", "zk_1.my-domain.example.:2181"],
    ["zk1/app", "zk1:2181/app"],
    ["zk1:1,zk2:2/app/sub", "zk1:1 zk2:2/app/sub"],
    ["zk1/", "zk1:2181"],
    ["zk1/app ", "zk1:2181/app"],
    ["zk1:/app", "zk1:2181/app"],
    // kazoo#111, #252, ZOOKEEPER-3106: IPv6 with and without brackets and port.
    ["[::1]:2182", "[::1]:2182"],
    ["[::1]", "[::1]:2181"],
    ["[::1]:", "[::1]:2181"],
    ["::1", "[::1]:2181"],
    ["fe80::1%eth0", "[fe80::1%eth0]:2181"],
    ["[fe80::1%eth0]:7", "[fe80::1%eth0]:7"],
    [
      "[2001:db8::1]:1,[2001:db8::2]:2/app",
      "[2001:db8::1]:1 [2001:db8::2]:2/app",
    ],
    ["::ffff:10.0.0.1", "[::ffff:10.0.0.1]:2181"],
    ["zk://zk1:1,zk2:2/app", "zk1:1 zk2:2/app"],
    ["zookeeper://zk1", "zk1:2181"],
    ["zk1/with,comma", "zk1:2181/with,comma"],
    [["zk1", "zk2:2182"], "zk1:2181 zk2:2182"],
    [["[::1]:1"], "[::1]:1"],
  ];
  for (const [servers, result] of good) {
    it(`reads ${show(servers)} as ${result}`, () => {
      const text = parsed(servers);

      assertEquals(text, result);
    });
  }

  const bad: Array<[unknown, string]> = [
    ["", "no name"],
    [",", "no name"],
    ["zk1,", "no name"],
    ["zk1,,zk2", "no name"],
    ["/app", "no name"],
    [":2181", "not the name of a host"],
    ["zk 1", "not the name of a host"],
    ["zk1;zk2", "not the name of a host"],
    ["zk1:x", "not a port"],
    ["zk1:0", "not a port"],
    ["zk1:65536", "not a port"],
    ["zk1:-1", "not a port"],
    ["zk1:2181.5", "not a port"],
    ["zk1:1e3", "not a port"],
    ["[::1", "[::1"],
    ["[]:1", "not the name of a host"],
    ["[::1]:99999", "not a port"],
    ["[::1]2181", "[::1]2181"],
    ["user@zk1:2181", 'servers "…@zk1:2181": give a user'],
    ["zk://anna:secret@zk1,zk2/app", 'servers "…@zk1,zk2/app": give a user'],
    [["anna:se@cret@zk1"], 'servers "…@zk1": give a user'],
    ["zk1:2181:3888", "zk1:2181:3888"],
    ["http://zk1:2181", "the scheme is none of"],
    ["zk://", "no name"],
    ["zk:///app", "no name"],
    ["zk1:2181/app,zk2:2181/app", "the chroot comes once"],
    ["zk1/app,zk2:2181", "the chroot comes once"],
    [["zk://zk1"], '"zk://zk1" is not one host:port'],
    ["zk1/app/", "Cannot use path"],
    ["zk1//app", "Cannot use path"],
    ["zk1/../x", "Cannot use path"],
    [[], "no name"],
    [["zk1", ""], "no name"],
    [["zk1/app", "zk2"], "zk1/app"],
    [undefined, "neither text nor a list"],
    [null, "neither text nor a list"],
    [2181, "neither text nor a list"],
    [{ host: "zk1" }, "neither text nor a list"],
  ];
  for (const [servers, why] of bad) {
    it(`refuses ${show(servers)} with a TypeError that says: ${why}`, () => {
      const error = assertThrows(
        () => parseServers(servers as string),
        TypeError,
      );

      assertStringIncludes(error.message, why);
    });
  }

  it("reads or refuses with a TypeError whatever is thrown at it (kazoo#303)", () => {
    const random = seeded(303);
    const letters = [
      "a",
      "1",
      ":",
      "[",
      "]",
      "/",
      ",",
      ".",
      " ",
      "%",
      "-",
      "\0",
      "😀",
      "\ud800",
      "..",
      "2181",
      "::1",
      "zk",
    ];
    const wrong: string[] = [];

    for (let i = 0; i < 5000; i++) {
      const text = Array.from(
        { length: random() * 9 },
        () => letters[Math.floor(random() * letters.length)],
      ).join("");
      try {
        const { addresses } = parseServers(text);
        const fine = addresses.length > 0 &&
          addresses.every(({ host, port }) =>
            host !== "" && Number.isInteger(port) && port > 0 && port < 65536
          );
        if (!fine) wrong.push(text);
      } catch (error) {
        if (!(error instanceof TypeError)) wrong.push(text);
      }
    }

    assertEquals(wrong, []);
  });
});

/** Random bytes that are the same for the same seed. */
function randomOf(seed: number): Random {
  const next = seeded(seed);
  return (bytes) => {
    for (let i = 0; i < bytes.length; i++) bytes[i] = next() * 256;
  };
}

function hosts(count: number): Address[] {
  return Array.from(
    { length: count },
    (_, i) => ({ host: `zk${i}`, port: 2181 }),
  );
}

function tries(
  ring: ServerRing,
  count: number,
): Array<{ host: string; pause: number }> {
  return Array.from({ length: count }, () => {
    const { address, pause } = ring.next();
    return { host: address.host, pause };
  });
}

describe("fraction()", () => {
  it("lies from 0 to 1, 1 excluded, for the extremes of the bytes", () => {
    const values = [0, 255].map((byte) =>
      fraction((bytes) => void bytes.fill(byte))
    );

    assertEquals(values[0], 0);
    assertLess(values[1], 1);
    assertGreater(values[1], 0.999999);
  });
});

describe("ServerRing", () => {
  it("next() tries every server once in the first circle, without a pause", () => {
    const ring = new ServerRing(hosts(5), randomOf(1));

    const first = tries(ring, 5);

    assertEquals(
      first.map(({ host }) => host).sort(),
      hosts(5).map(({ host }) => host),
    );
    assertEquals(first.map(({ pause }) => pause), [0, 0, 0, 0, 0]);
  });

  it("next() goes round in the same order for ever", () => {
    const ring = new ServerRing(hosts(3), randomOf(2));

    const order = tries(ring, 9).map(({ host }) => host);

    assertEquals(order.slice(3), [...order.slice(0, 3), ...order.slice(0, 3)]);
  });

  it("shuffles: over 600 rings each of 3 servers comes first about as often", () => {
    const counts = [0, 0, 0];

    for (let seed = 0; seed < 600; seed++) {
      const { address } = new ServerRing(hosts(3), randomOf(seed)).next();
      counts[Number(address.host.slice(2))]++;
    }

    assert(counts.every((n) => n > 140 && n < 260), `${counts}`);
  });

  it("does not change the list it was given", () => {
    const list = hosts(6);

    new ServerRing(list, randomOf(5));

    assertEquals(list, hosts(6));
  });

  it("pauses 10 to 50 ms in the second circle", () => {
    const pauses = Array.from(
      { length: 200 },
      (_, seed) => tries(new ServerRing(hosts(1), randomOf(seed)), 2)[1].pause,
    );

    assert(pauses.every((pause) => pause >= 10 && pause <= 50), `${pauses}`);
    assertGreater(new Set(pauses).size, 150, "not jittered");
  });

  it("pauses longer by half with each circle, by 500 to 1,000 ms in the end", () => {
    const rings = Array.from(
      { length: 100 },
      (_, seed) => tries(new ServerRing(hosts(1), randomOf(seed)), 40),
    );

    const mean = (circle: number) =>
      rings.reduce((sum, ring) => sum + ring[circle].pause, 0) / rings.length;
    const last = rings.map((ring) => ring[39].pause);

    assert(Math.abs(mean(4) / mean(3) - 1.5) < 0.25, `${mean(3)} ${mean(4)}`);
    assert(last.every((pause) => pause >= 500 && pause <= 1000), `${last}`);
  });

  it("never pauses above a second, nor gives NaN, after 100,000 tries in vain (CURATOR-262)", () => {
    const ring = new ServerRing(hosts(2), randomOf(9));

    const pauses = tries(ring, 100_000).map(({ pause }) => pause);

    assertEquals(pauses.filter((pause) => !(pause >= 0 && pause <= 1000)), []);
  });

  it("ended() of a connection that was healthy for a second starts again without pauses", () => {
    const ring = new ServerRing(hosts(2), randomOf(3));
    tries(ring, 8);

    ring.ended(1000);

    assertEquals(tries(ring, 2).map(({ pause }) => pause), [0, 0]);
    assertEquals(ring.circles, 1);
  });

  it("ended() of a flapping connection does not: the pauses go on growing (node-zookeeper-client#80)", () => {
    const ring = new ServerRing(hosts(1), randomOf(4));

    const pauses = Array.from({ length: 20 }, () => {
      const { pause } = ring.next();
      ring.ended(999);
      return pause;
    });

    assertEquals(pauses[0], 0);
    assert(pauses.slice(12).every((pause) => pause >= 500), `${pauses}`);
  });

  it("ended() goes on with the next server, not with the one that was lost", () => {
    const ring = new ServerRing(hosts(3), randomOf(6));
    const [lost] = tries(ring, 1);

    ring.ended(60_000);
    const [next] = tries(ring, 1);

    assert(next.host !== lost.host);
  });
});
