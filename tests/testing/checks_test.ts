// What a TestServer refuses to be told.
// In memory, and without time.

import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { TestServer } from "../../testing/mod.ts";
import type { ServerVersion } from "../../testing/mod.ts";

const numbers = [
  "tick",
  "minSessionTimeout",
  "maxSessionTimeout",
  "reapInterval",
  "maxPacket",
] as const;

describe("TestServer.start()", () => {
  for (const name of numbers) {
    for (const value of [0, -1, NaN]) {
      it(`refuses ${value} for ${name}`, async () => {
        const options = { listen: false, [name]: value };

        await assertRejects(
          () => TestServer.start(options),
          RangeError,
          `${name} is ${value}`,
        );
      });
    }
  }

  it("refuses a version that it cannot play, and lists those it can", async () => {
    const version = "3.7" as ServerVersion;

    await assertRejects(
      () => TestServer.start({ listen: false, version }),
      TypeError,
      "version 3.7: there are 3.4, 3.8, 3.9",
    );
  });
});

describe("TestServer, told what is to become of an operation", () => {
  const faults = {
    cutBefore: (server: TestServer, op: string) => server.cutBefore(op),
    cutAfter: (server: TestServer, op: string) => server.cutAfter(op),
    dropReply: (server: TestServer, op: string) => server.dropReply(op),
    refuse: (server: TestServer, op: string) => server.refuse(op, "NoNode"),
  };

  for (const [name, fault] of Object.entries(faults)) {
    it(`${name}() refuses a name that no operation has`, async () => {
      await using server = await TestServer.start({ listen: false });

      assertThrows(() => fault(server, "getdata"), TypeError, "getdata");
    });
  }

  it("takes connect and numbers without a name, but no number that has one", async () => {
    await using server = await TestServer.start({ listen: false });
    const given = ["connect", "999", "-7"].map((op) => server.cutBefore(op));

    assertThrows(() => server.cutBefore("1"), TypeError, "its name is create");

    const ends = Promise.allSettled(given);
    server.heal();
    const states = (await ends).map(({ status }) => status);
    assertEquals(states, ["rejected", "rejected", "rejected"]);
  });
});
