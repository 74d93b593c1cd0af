// Link: a connection in memory whose ways are as late as somebody says, but keep their order, and whose end is told once.
// The ways are lists that a test empties by hand.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Line } from "../../testing/backend.ts";
import { Link } from "../../testing/network.ts";
import { bytes } from "../protocol/wire.ts";

/** A link, what its ends heard, and what is on its way. */
function linked() {
  const heard: string[] = [];
  const up: (() => void)[] = [], down: (() => void)[] = [];
  const text = (chunk: Uint8Array) => new TextDecoder().decode(chunk);
  let line!: Line;
  const link = new Link(
    { up: (run) => void up.push(run), down: (run) => void down.push(run) },
    {
      data: (chunk) => heard.push(`client: ${text(chunk)}`),
      close: () => heard.push("client: closed"),
    },
    (made) => {
      line = made;
      return {
        take: (chunk) => heard.push(`server: ${text(chunk)}`),
        hungUp: () => heard.push("server: hung up"),
      };
    },
  );
  const arrive = (way: (() => void)[]) => {
    for (const run of way.splice(0)) run();
  };
  return { link, line, heard, up, down, arrive };
}

describe("Link", () => {
  it("carries bytes both ways, in order, when their way says so", () => {
    const { link, line, heard, up, down, arrive } = linked();
    for (const each of ["a", "b"]) {
      link.socket.write(bytes(each));
      line.write(bytes(each.toUpperCase()));
    }
    const before = [...heard];

    arrive(up);
    arrive(down);

    assertEquals(before, []);
    assertEquals(heard, ["server: a", "server: b", "client: A", "client: B"]);
  });

  it("tells the server of the client's end behind what it wrote, and the client not from inside close()", async () => {
    const { link, heard, up, arrive } = linked();
    link.socket.write(bytes("last"));

    link.socket.close();
    const inside = [...heard];
    await null;
    arrive(up);

    assertEquals(inside, []);
    assertEquals(heard, ["client: closed", "server: last", "server: hung up"]);
  });

  it("tells the client of the server's end behind what it wrote", () => {
    const { line, heard, down, arrive } = linked();
    line.write(bytes("last"));

    line.finish();
    arrive(down);

    assertEquals(heard, ["client: last", "client: closed"]);
  });

  for (const end of ["finish", "reset"] as const) {
    it(`a server that said ${end}() says no more, and its client is told once`, async () => {
      const { link, line, heard, down, arrive } = linked();

      line[end]();
      line.write(bytes("late"));
      line.finish();
      line.reset();
      arrive(down);
      link.socket.close();
      await null;

      assertEquals(heard, ["client: closed"]);
    });
  }

  it("a client that hung up hears no more and is told once", async () => {
    const { link, line, heard, down, arrive } = linked();
    line.write(bytes("on its way"));

    link.socket.close();
    link.socket.close();
    link.socket.write(bytes("late"));
    await null;
    line.finish();
    arrive(down);

    assertEquals(heard, ["client: closed"]);
  });

  it("the server hears once that the client hung up", async () => {
    const { link, heard, up, arrive } = linked();

    link.socket.close();
    link.socket.close();
    await null;
    arrive(up);

    assertEquals(heard, ["client: closed", "server: hung up"]);
  });

  it("cut() ends both ends at once, and what is on its way does not reach the client", async () => {
    const { link, line, heard, down, arrive } = linked();
    line.write(bytes("on its way"));

    link.cut();
    arrive(down);
    link.socket.write(bytes("late"));
    line.write(bytes("late"));
    arrive(down);
    await null;

    assertEquals(heard, ["client: closed", "server: hung up"]);
  });
});
