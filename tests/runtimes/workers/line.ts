// A worker that opens one connection by the library's transport, and tells what it heard on it.
// Knows no ZooKeeper and no expectation.
// Bundled and started by ../workers_transport_test.ts.

import { pickTransport } from "../../../protocol/transport/mod.ts";

/** What to do on the connection. */
export interface Errand {
  port: number;
  /** Written at once, one write each. */
  say: string[];
  /** Hang up, and write again, when this was heard; else the peer is to end it. */
  closeAfter?: string;
  /** Give up connecting by TLS after so many ms. */
  giveUpAfter?: number;
}

async function run(
  { port, say, closeAfter, giveUpAfter }: Errand,
): Promise<string[]> {
  const log: string[] = [];
  let heard = "";
  const giveUp = new AbortController();
  const tls = giveUpAfter === undefined ? undefined : {};
  if (giveUpAfter !== undefined) {
    setTimeout(() => giveUp.abort(new Error("enough")), giveUpAfter);
  }
  let close = () => {};
  const closed = new Promise<void>((resolve) => {
    pickTransport({ host: "127.0.0.1", port, tls, signal: giveUp.signal }, {
      data(bytes) {
        heard += new TextDecoder().decode(bytes);
        if (heard === closeAfter) close();
      },
      close(error) {
        log.push(
          error ? `closed: ${(error as { code?: string }).code}` : "closed",
        );
        resolve();
      },
    }).then((socket) => {
      close = () => {
        socket.close();
        log.push("closing");
        socket.write(new Uint8Array(1));
        socket.close();
      };
      for (const text of say) socket.write(new TextEncoder().encode(text));
    }, (error) => {
      log.push(`rejected: ${error.message}`);
      resolve();
    });
  });
  const late = new Promise<void>((resolve) => setTimeout(resolve, 5_000));
  await Promise.race([closed, late]);
  // Whatever else is called is called soon.
  await new Promise((resolve) => setTimeout(resolve, 50));
  return [`heard ${heard}`, ...log];
}

export default {
  async fetch(request: Request): Promise<Response> {
    return Response.json(await run(await request.json() as Errand));
  },
};
