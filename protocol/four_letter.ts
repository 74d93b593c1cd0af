// Four-letter words: asking a server about itself, in plain text, on a connection of its own.
// Knows no sessions; a server answers these only before a handshake.
// Used by client.ts and seeker.ts.

import type { Environment } from "./environment.ts";
import { ConnectionLossError } from "./errors.ts";
import { type Address, formatAddress } from "./servers.ts";
import { tlsFailure } from "./tls_failure.ts";
import type { TlsOptions, Transport } from "./transport/mod.ts";

/** No answer is longer than this, in bytes. */
const longest = 1024 * 1024;

/**
 * Sends one word and answers what comes back until the server hangs up. Rejects
 * with a ConnectionLossError if it cannot be reached or does not answer in time
 * (ms), or with the signal's reason.
 */
export async function fourLetterWord(
  word: string,
  address: Address,
  by: {
    transport: Transport;
    environment: Environment;
    tls?: TlsOptions;
    keepAlive?: boolean;
  },
  patience: number,
  signal?: AbortSignal,
): Promise<string> {
  signal?.throwIfAborted();
  const stop = new AbortController();
  const decoder = new TextDecoder();
  let text = "";
  let hangUp = () => {};
  let settle = (_error?: Error) => {};
  const ended = new Promise<void>((resolve, reject) => {
    settle = (error) => error ? reject(error) : resolve();
  });
  ended.catch(() => {}); // It may end before anybody waits for it.
  const giveUp = (error: Error) => {
    stop.abort(error);
    settle(error);
  };
  const abort = () => giveUp(signal!.reason);
  signal?.addEventListener("abort", abort, { once: true });
  const cancel = by.environment.after(
    patience,
    () => giveUp(new Error(`no answer within ${patience} ms`)),
    by.keepAlive,
  );
  try {
    const { tls, keepAlive } = by;
    const socket = await by.transport(
      { ...address, tls, keepAlive, signal: stop.signal },
      {
        data(bytes) {
          text += decoder.decode(bytes, { stream: true });
          if (text.length > longest) hangUp();
        },
        close: settle,
      },
    );
    hangUp = () => socket.close();
    socket.write(new TextEncoder().encode(word));
    await ended;
    return text;
  } catch (cause) {
    signal?.throwIfAborted();
    const { tls } = by;
    const why = tls ? tlsFailure(cause as Error, address, tls) : cause;
    throw lost(word, address, why as Error);
  } finally {
    hangUp();
    cancel();
    signal?.removeEventListener("abort", abort);
  }
}

function lost(word: string, address: Address, cause: Error) {
  const message = `Cannot ask ${formatAddress(address)} for ${word}: ` +
    cause.message;
  return new ConnectionLossError(word, null, "unknown", { message, cause });
}

/** The version in an answer to `srvr`, e.g. "3.8.0"; null where the word is not allowed. */
export function versionIn(answer: string): string | null {
  const found = /^Zookeeper version: ([^\s,-]+)/m.exec(answer);
  return found && found[1];
}
