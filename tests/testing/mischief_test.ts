// Mischief: what it keeps of what it has seen.
// Without a server: it only looks on.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Engine } from "../../testing/engine.ts";
import { Mischief } from "../../testing/mischief.ts";
import type { Peer } from "../../testing/peer.ts";

describe("Mischief", () => {
  it("keeps the newest 100,000 requests, and counts all until clear()", () => {
    const mischief = new Mischief({} as Engine);
    const peer = { session: 1n } as Peer;
    const body = new Uint8Array(0);

    for (let xid = 0; xid < 110_000; xid++) {
      mischief.asked(peer, xid % 2 ? "exists" : "create", xid, body);
    }
    const { requests } = mischief;
    const counts = [mischief.count(), mischief.count("create")];
    mischief.clear();

    assertEquals([requests.length, requests[0].index], [100_000, 10_000]);
    assertEquals(counts, [110_000, 55_000]);
    assertEquals([mischief.count(), mischief.requests.length], [0, 0]);
  });
});
