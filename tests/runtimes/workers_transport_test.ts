// The transport of edge workers, in workerd: how connections end.
// Runs workers/line.ts against a peer that does as it is told.

import { assertEquals } from "@std/assert";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { bundle, startWorker, unchecked } from "./workers_tools.ts";
import type { Errand } from "./workers/line.ts";

const code = await bundle("tests/runtimes/workers/line.ts");

/** What the worker tells of an errand. */
async function errand(errand: Omit<Errand, "port">): Promise<string[]> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", (bytes: Uint8Array) => {
      const text = new TextDecoder().decode(bytes);
      if (text.endsWith("end")) socket.end("bye");
      else if (text.endsWith("reset")) socket.resetAndDestroy();
      else if (errand.giveUpAfter === undefined) socket.write(text);
    });
  });
  await new Promise<void>((done) =>
    server.listen({ port: 0, host: "127.0.0.1" }, done)
  );
  const worker = await startWorker({
    code,
    compatibilityFlags: ["nodejs_compat"],
  });
  try {
    const { port } = server.address() as AddressInfo;
    const body = JSON.stringify({ ...errand, port });
    const init = { method: "POST", body };
    const reply = await worker.dispatchFetch("http://worker/", init);
    return await reply.json();
  } finally {
    await worker.dispose();
    for (const socket of sockets) socket.destroy();
    await new Promise((done) => server.close(done));
  }
}

unchecked(
  "pickTransport() in a worker tells once that the peer ended the connection, behind its last bytes",
  async () => {
    assertEquals(await errand({ say: ["end"] }), ["heard bye", "closed"]);
  },
);

unchecked(
  "pickTransport() in a worker tells once that the peer reset the connection",
  async () => {
    const [heard, end, ...rest] = await errand({ say: ["reset"] });

    // workerd reports a reset as an end, if nothing is being written.
    assertEquals([heard, end.slice(0, 6), rest], ["heard ", "closed", []]);
  },
);

unchecked(
  "Socket.close() in a worker is told once, and not from inside; what is written later is dropped",
  async () => {
    const log = await errand({ say: ["a", "b", "c"], closeAfter: "abc" });

    assertEquals(log, ["heard abc", "closing", "closed"]);
  },
);

unchecked(
  "pickTransport() in a worker gives up a TLS handshake when the signal aborts",
  async () => {
    const log = await errand({ say: [], giveUpAfter: 100 });

    assertEquals(log, ["heard ", "rejected: enough"]);
  },
);
