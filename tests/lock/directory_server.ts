// A server with one directory of ephemeral sequential znodes, whose answers a test can spoil one by one.
// Knows what a SequentialLock asks, nothing more: no watches, no rights, no data.
// Used by the lock tests on virtual time.

import type { FakeEnsemble, Line } from "../protocol/virtual.ts";
import {
  answer,
  type Asked,
  header,
  operationOf,
  statOf,
} from "../protocol/wire.ts";

/** What becomes of a request instead of its answer: an error number, silence, or a lost connection after it was done. */
export type Spoil = (asked: Asked) => number | "silence" | "cut" | undefined;

/** The directory `/l`. */
export class DirectoryServer {
  /** Names of the znodes, with the session that made each. */
  readonly znodes = new Map<string, bigint>();
  readonly asked: string[] = [];
  spoil: Spoil = () => undefined;
  exists = true;
  readonly #ensemble: FakeEnsemble;
  #next = 0;

  constructor(ensemble: FakeEnsemble) {
    this.#ensemble = ensemble;
    for (const server of ensemble.servers) {
      server.answer = (asked, line) => this.#answer(asked, line);
    }
  }

  /** Somebody else's contender. */
  enter(prefix = "_c_other-lock-", session = 99n): string {
    const name = prefix + String(this.#next++).padStart(10, "0");
    this.znodes.set(name, session);
    return name;
  }

  #answer(asked: Asked, line: Line): Uint8Array | null {
    this.asked.push(asked.op);
    const spoiled = this.spoil(asked);
    if (typeof spoiled === "number") {
      return header(asked.xid, this.#ensemble.zxid, spoiled);
    }
    if (spoiled === "silence") return null;
    const reply = this.#do(asked, line);
    if (spoiled !== "cut") return reply;
    line.cut();
    return null;
  }

  #do(asked: Asked, line: Line): Uint8Array {
    const { op, xid, type, body } = asked;
    const name = String(body?.path ?? "").slice("/l/".length);
    const gone = op !== "create" && name !== "" && !this.znodes.has(name);
    const nowhere = !this.exists && String(body?.path).startsWith("/l");
    if (op !== "multi" && (gone || nowhere)) {
      return header(xid, ++this.#ensemble.zxid, -101);
    }
    const { reply } = operationOf.get(type)!;
    const zxid = ++this.#ensemble.zxid;
    if (op === "create") {
      const made = this.enter(name, line.hello!.sessionId || sessionOf(line));
      return answer(xid, zxid, reply, { path: `/l/${made}` });
    }
    if (op === "getChildren") {
      return answer(xid, zxid, reply, { children: [...this.znodes.keys()] });
    }
    if (op === "exists") {
      const ephemeralOwner = this.znodes.get(name)!;
      return answer(xid, zxid, reply, { stat: statOf({ ephemeralOwner }) });
    }
    if (op === "delete") this.znodes.delete(name);
    if (op === "multi") {
      const checked = body as unknown as unknown[];
      const results = checked.map(() => ({ type: 13, err: 0, reply: null }));
      return answer(xid, zxid, reply, results);
    }
    return this.#ensemble.answer(asked);
  }
}

/** Sessions are numbered by the ensemble; a new one shows in no hello. */
function sessionOf(line: Line): bigint {
  return [...line.server.ensemble.sessions.keys()].at(-1)!;
}
