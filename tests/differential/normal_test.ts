// Which bytes of a frame count when two servers are compared: all, but for those that no two runs share.
// Knows no server: it has frames made by the record tables.
// Traces on servers are in differential_test.ts.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  create2,
  exists,
  getAcl,
  getChildren,
  getData,
  multi,
  type Operation,
} from "../../protocol/operations.ts";
import { ConnectResponse } from "../../protocol/records.ts";
import { answer, event, framed, header, statOf } from "../protocol/wire.ts";
import { event as eventOf, type Heard, hello, reply } from "./normal.ts";
import type { Terms } from "./normal.ts";

const root = "/d0000000007";
const terms: Terms = {
  place: { root, base: 100n },
  sessionOf: (id) => id === 5n ? 0 : "unknown",
  rootStat: null,
};
const stat = statOf({
  czxid: 101n,
  mzxid: 102n,
  pzxid: 103n,
  ephemeralOwner: 5n,
  version: 1,
  mtime: 0x1a22e3605d1n,
  ctime: 0x1a22e3605d0n,
});

/** Offsets of bytes that can be changed without being noticed. */
function unnoticed(
  frame: Uint8Array,
  read: (frame: Uint8Array) => Heard,
): number[] {
  const before = JSON.stringify(read(frame));
  return [...frame.keys()].slice(4).filter((at) => {
    const changed = frame.slice();
    changed[at] ^= 1;
    return JSON.stringify(read(changed)) === before;
  });
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}

describe("reply()", () => {
  const cases: [string, Uint8Array, Operation, number[]][] = [
    ["an error", header(7, 110n, -101), exists as Operation, []],
    [
      "data and a Stat, but for the times",
      answer(7, 110n, getData.reply, { data: new Uint8Array(3), stat }),
      getData as Operation,
      // All but the last byte of mtime, and of ctime: then it is the later one.
      [],
    ],
    [
      "a path and a Stat",
      answer(7, 110n, create2.reply, { path: `${root}/a`, stat }),
      create2 as Operation,
      [],
    ],
    [
      "an ACL",
      answer(7, 110n, getAcl.reply, {
        acl: [{ perms: 31, scheme: "world", id: "anyone" }],
        stat: statOf(),
      }),
      getAcl as Operation,
      [],
    ],
    [
      "names",
      answer(7, 110n, getChildren.reply, { children: ["a", "b"] }),
      getChildren as Operation,
      [],
    ],
    [
      "results of a multi",
      answer(7, 110n, multi.reply, [
        { type: 1, err: 0, reply: { path: `${root}/a` } },
        { type: -1, err: -2, reply: null },
      ]),
      multi as Operation,
      [],
    ],
  ];
  for (const [what, frame, op] of cases) {
    it(`notices every byte of ${what}`, () => {
      const found = unnoticed(frame, (bytes) => reply(bytes, op, terms));

      assertEquals(found, timesIn(frame));
    });
  }

  it("takes lists of names as sets, and leaves out roots of other traces", () => {
    const read = (children: string[]) =>
      reply(
        answer(7, 110n, getChildren.reply, { children }),
        getChildren as Operation,
        terms,
      );

    const one = read(["a", "b", "d0000000007", "d0000000001"]);
    const other = read(["d0000000007", "b", "a"]);

    assertEquals(one, other);
  });
});

/** Where in a frame the bytes of the times are, which no two runs share. */
function timesIn(frame: Uint8Array): number[] {
  const mark = [0, 0, 1, 0xa2, 0x2e, 0x36, 0x05, 0xd0];
  for (let at = 4; at + 16 <= frame.length; at++) {
    if (!mark.every((byte, i) => frame[at + i] === byte)) continue;
    // ctime and mtime; a change that puts mtime before ctime is noticed.
    return range(at, at + 16).filter((i) => {
      const changed = frame.slice();
      changed[i] ^= 1;
      const view = new DataView(changed.buffer);
      const [ctime, mtime] = [view.getBigInt64(at), view.getBigInt64(at + 8)];
      return mtime >= ctime;
    });
  }
  return [];
}

describe("event()", () => {
  it("notices every byte", () => {
    const frame = event(4, `${root}/a`, 110n);

    const found = unnoticed(frame, (bytes) => eventOf(bytes, terms));

    assertEquals(found, []);
  });
});

describe("hello()", () => {
  it("notices every byte but the password's", () => {
    const frame = framed((to) =>
      ConnectResponse.write(to, {
        protocolVersion: 0,
        timeOut: 9000,
        sessionId: 5n,
        passwd: new Uint8Array(16).fill(7),
        readOnly: false,
      })
    );

    const found = unnoticed(frame, (bytes) => hello(bytes, terms));

    assertEquals(found, range(24, 40));
  });
});
