// The numbers of the wire against the tables of the protocol's reference (its sections 4.1 to 4.5).
// Pure.

import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  addWatchModes,
  createFlags,
  errorName,
  errorNumbers,
  eventName,
  eventTypes,
  maxRequestBytes,
  numberOf,
  permissions,
  specialXids,
  watcherTypes,
} from "../../protocol/codes.ts";
import { operations } from "../../protocol/operations.ts";

describe("errorName()", () => {
  // KeeperException.Code, with the names it has in Java.
  const reference = `
    -1 SYSTEMERROR, -2 RUNTIMEINCONSISTENCY, -3 DATAINCONSISTENCY, -4 CONNECTIONLOSS,
    -5 MARSHALLINGERROR, -6 UNIMPLEMENTED, -7 OPERATIONTIMEOUT, -8 BADARGUMENTS,
    -12 UNKNOWNSESSION, -13 NEWCONFIGNOQUORUM, -14 RECONFIGINPROGRESS, -100 APIERROR,
    -101 NONODE, -102 NOAUTH, -103 BADVERSION, -108 NOCHILDRENFOREPHEMERALS, -110 NODEEXISTS,
    -111 NOTEMPTY, -112 SESSIONEXPIRED, -113 INVALIDCALLBACK, -114 INVALIDACL, -115 AUTHFAILED,
    -118 SESSIONMOVED, -119 NOTREADONLY, -120 EPHEMERALONLOCALSESSION, -121 NOWATCHER,
    -122 REQUESTTIMEOUT, -123 RECONFIGDISABLED, -124 SESSIONCLOSEDREQUIRESASLAUTH,
    -125 QUOTAEXCEEDED, -127 THROTTLEDOP`
    .trim().split(/,\s+/).map((entry) => entry.split(" "));

  for (const [number, name] of reference) {
    it(`knows ${number} as ${name}`, () => {
      const known = errorName(Number(number));

      assertEquals(known.toUpperCase(), name);
    });
  }

  it("knows no number beyond those of the reference", () => {
    const numbers = Object.values(errorNumbers).map(String).sort();

    assertEquals(numbers, reference.map(([number]) => number).sort());
  });

  for (const number of [0, 1, -9, -116, -117, -126, -128, -999, 2 ** 31 - 1]) {
    it(`answers "Unknown" for ${number}`, () => {
      const name = errorName(number);

      assertEquals(name, "Unknown");
    });
  }
});

describe("eventName()", () => {
  it("knows the four events a server sends", () => {
    const names = [1, 2, 3, 4].map(eventName);

    assertEquals(names, [
      "created",
      "deleted",
      "data-changed",
      "children-changed",
    ]);
  });

  it("answers undefined for the others, which clients make themselves or nobody knows", () => {
    const names = [-1, 0, 5, 6, 7, 99].map(eventName);

    assertEquals(names, Array(6).fill(undefined));
  });
});

describe("numberOf()", () => {
  it("answers the number of a name", () => {
    const number = numberOf(watcherTypes, "any", "type");

    assertEquals(number, 3);
  });

  for (const key of ["", "Any", "toString", "__proto__"]) {
    it(`throws a TypeError for ${JSON.stringify(key)}`, () => {
      assertThrows(
        () => numberOf(watcherTypes, key, "type"),
        TypeError,
        "Cannot use type: unknown",
      );
    });
  }
});

describe("The tables of codes.ts", () => {
  it("have the numbers of the reference", () => {
    const tables = {
      createFlags,
      permissions,
      addWatchModes,
      watcherTypes,
      eventTypes,
      specialXids,
      maxRequestBytes,
    };

    assertEquals(tables, {
      createFlags: {
        "persistent": 0,
        "ephemeral": 1,
        "persistent-sequential": 2,
        "ephemeral-sequential": 3,
        "container": 4,
        "persistent-ttl": 5,
        "persistent-sequential-ttl": 6,
      },
      permissions: {
        read: 1,
        write: 2,
        create: 4,
        delete: 8,
        admin: 16,
        all: 31,
      },
      addWatchModes: { "persistent": 0, "persistent-recursive": 1 },
      watcherTypes: { children: 1, data: 2, any: 3 },
      eventTypes: {
        created: 1,
        deleted: 2,
        "data-changed": 3,
        "children-changed": 4,
      },
      specialXids: { event: -1, ping: -2, auth: -4, setWatches: -8 },
      maxRequestBytes: 1_048_575,
    });
  });
});

describe("operations", () => {
  // Section 4.1: code, name, since; what changes nothing, or the same again, may be repeated.
  const reference = `
    1 create 3.4 once, 2 delete 3.4 once, 3 exists 3.4 again, 4 getData 3.4 again,
    5 setData 3.4 once, 6 getACL 3.4 again, 7 setACL 3.4 once, 8 getChildren 3.4 again,
    9 sync 3.4 again, 11 ping 3.4 again, 12 getChildren2 3.4 again, 13 check 3.4 once,
    14 multi 3.4 once, 15 create2 3.5 once, 16 reconfig 3.5 once, 17 checkWatches 3.5 again,
    18 removeWatches 3.5 again, 19 createContainer 3.5 once, 21 createTTL 3.5 once,
    22 multiRead 3.6 again, 100 auth 3.4 again, 101 setWatches 3.4 again, 102 sasl 3.4 again,
    103 getEphemerals 3.6 again, 104 getAllChildrenNumber 3.6 again, 105 setWatches2 3.6 again,
    106 addWatch 3.6 again, 107 whoAmI 3.7 again, -11 closeSession 3.4 again`
    .trim().split(/,\s+/).sort();

  it("have the codes and versions of the reference, each once", () => {
    const ours = operations.map(({ code, name, since, repeatable }) =>
      `${code} ${name} ${since} ${repeatable ? "again" : "once"}`
    );

    assertEquals(ours.sort(), reference);
  });

  it("carry a reserved number only where the protocol has one", () => {
    const reserved = operations.filter(({ xid }) => xid !== undefined).map((
      { name, xid },
    ) => [name, xid]);

    assertEquals(Object.fromEntries(reserved), {
      ping: -2,
      auth: -4,
      setWatches: -8,
      setWatches2: -8,
    });
  });
});
