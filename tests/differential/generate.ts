// Random commands: a pure function of the seed, and of the names that sequential znodes got.
// Knows no connection and no server.
// Used by trace.ts.

import {
  type Command,
  type Hello,
  operationOf,
  type Request,
} from "./commands.ts";
import {
  anyAcl,
  anyData,
  anyPath,
  anyVersion,
  Dice,
  ownPath,
  sequentialPath,
  users,
} from "./material.ts";
import type { Heard } from "./normal.ts";
import { lineCount, type Outcome } from "./player.ts";

/** How often which request is made. */
const requestWeights = {
  create: 150,
  create2: 40,
  createContainer: 16,
  createTTL: 20,
  delete: 80,
  setData: 70,
  setACL: 22,
  exists: 60,
  getData: 60,
  getChildren: 40,
  getChildren2: 30,
  getACL: 15,
  sync: 8,
  multi: 60,
  multiRead: 15,
  setWatches: 12,
  setWatches2: 12,
  addWatch: 24,
  checkWatches: 14,
  removeWatches: 18,
  getEphemerals: 8,
  getAllChildrenNumber: 8,
  whoAmI: 4,
  reconfig: 2,
  ping: 4,
  check: 1,
};

const partWeights = {
  create: 30,
  create2: 8,
  createContainer: 3,
  createTTL: 3,
  delete: 14,
  setData: 14,
  check: 14,
};

const commandWeights = {
  request: 800,
  burst: 20,
  auth: 14,
  badAuth: 3,
  hello: 20,
  badHello: 6,
  hangUp: 8,
  closeSession: 8,
  malformed: 8,
  raw: 6,
  unknown: 3,
};

/** Makes a trace, command by command. */
export class Generator {
  readonly #dice: Dice;
  readonly #line: string;
  /** Names the server gave. */
  readonly #learned: string[] = [];
  /** The last zxid seen, counted from the trace's first. */
  #zxid = 0;

  /** @param line The release line whose operations are enough. */
  constructor(seed: number, line = "9") {
    this.#dice = new Dice(seed);
    this.#line = line;
  }

  /** Takes in what came of the last command. */
  learn(outcome: Outcome): void {
    for (const heard of outcome.flat()) {
      const zxid = (heard.header as { zxid?: string } | undefined)?.zxid;
      if (zxid?.startsWith("+")) this.#zxid = Number(zxid);
      const path = pathIn(heard);
      if (path !== undefined && /\d{10}$/.test(path)) {
        this.#learned.push(path);
        if (this.#learned.length > 12) this.#learned.shift();
      }
    }
  }

  next(): Command {
    const dice = this.#dice;
    const on = dice.below(lineCount);
    const one = (request: Request): Command => ({
      do: "ask",
      on,
      requests: [request],
    });
    switch (dice.weighted(commandWeights)) {
      case "request": {
        const request = this.#request();
        if (dice.chance(2)) {
          request.xid = dice.pick([
            0,
            -77,
            -8,
            -2,
            -4,
            2147483647,
            -2147483648,
          ]);
        }
        return one(request);
      }
      case "burst":
        return {
          do: "ask",
          on,
          requests: Array.from(
            { length: 3 + dice.below(12) },
            () => this.#quickRequest(),
          ),
        };
      case "auth":
        return one(authOf("digest", dice.pick(users)));
      case "badAuth":
        return one(
          authOf(dice.pick(["nosuch", "", "world", "ip", "auth"]), "x"),
        );
      case "hello":
        return this.#hello(on);
      case "badHello":
        return this.#badHello(on);
      case "hangUp":
        return { do: "hangUp", on };
      case "closeSession":
        return one({ op: "closeSession", body: null });
      case "malformed":
        // By at most two bytes of what is there in every request.
        return one({ ...this.#request(), cut: 1 + dice.below(30) });
      case "raw":
        return { do: "raw", on, op: "getData", bytes: dice.pick(oddFrames) };
      default:
        return one({
          op: dice.pick([999, 0, -5, 10, 108, 200, 23]),
          body: null,
        });
    }
  }

  #path(): string {
    return anyPath(this.#dice, this.#learned);
  }

  #hello(on: number): Hello {
    const dice = this.#dice;
    const isNew = dice.chance(25);
    return {
      do: "hello",
      on,
      session: isNew ? "new" : dice.below(1000),
      password: isNew
        ? dice.pick(["right", "right", "empty", "short", "wrong"] as const)
        : "right",
      lastZxid: dice.pick([null, 0, this.#zxid]),
      timeOut: dice.pick([60_000, 60_000, 50_000, 100_000, 40_001]),
      readOnly: dice.pick([false, false, true, undefined]),
      requests: dice.chance(30)
        ? dice.some(4, () => this.#quickRequest())
        : undefined,
    };
  }

  #badHello(on: number): Hello {
    const dice = this.#dice;
    const hello = this.#hello(on);
    hello.requests = undefined;
    switch (dice.below(3)) {
      case 0:
        hello.session = dice.below(1000);
        hello.password = dice.pick(["wrong", "empty", "short", "null"]);
        break;
      case 1:
        hello.session = "unknown";
        hello.password = dice.pick(["right", "wrong"]);
        break;
      default:
        hello.lastZxid = this.#zxid + 1 + dice.below(1000);
    }
    return hello;
  }

  #request(): Request {
    const op = this.#dice.weighted(this.#known(requestWeights));
    if (op === "multi" || op === "multiRead") return this.#multi(op);
    return { op, body: this.#body(op) };
  }

  /** One for the middle of a burst. */
  #quickRequest(): Request {
    // A real server decides about writes before the setACL ahead of them is done,
    // by the old rights, if it is fast: its pending changes have none of the new.
    for (;;) {
      const request = this.#request();
      // A check that holds is never answered by 3.8.0, and what comes then is the
      // next reply.
      if (request.op !== "setACL" && request.op !== "check") return request;
    }
  }

  #multi(op: "multi" | "multiRead"): Request {
    const dice = this.#dice;
    const parts = dice.some(5, () => this.#part(op));
    const isMixed = dice.chance(4);
    if (isMixed) {
      parts.splice(
        dice.below(parts.length + 1),
        0,
        this.#part(
          op === "multi" ? "multiRead" : "multi",
        ),
      );
    }
    if (dice.chance(3)) {
      const path = this.#path();
      const other = dice.pick(["exists", "getACL", "sync", "setACL"] as const);
      parts.push({ op: other, body: { ...this.#body(other), path } });
    }
    if (dice.chance(2)) {
      parts.push({ op: dice.pick([999, -11, 11]), body: null });
    }
    return { op, body: null, parts };
  }

  #part(of: "multi" | "multiRead"): Request {
    const op = of === "multiRead"
      ? this.#dice.weighted({ getData: 2, getChildren: 2 })
      : this.#dice.weighted(this.#known(partWeights));
    return { op, body: this.#body(op) };
  }

  /** The weights, with none on what the line does not know. */
  #known<K extends string>(weights: Record<K, number>): Record<K, number> {
    const known = { ...weights };
    for (const op of Object.keys(weights) as K[]) {
      if (operationOf({ op, body: null })!.since > this.#line) known[op] = 0;
    }
    return known;
  }

  #body(op: string): Request["body"] {
    const dice = this.#dice;
    const path = this.#path();
    const watch = dice.chance(45);
    switch (op) {
      case "create":
      case "create2":
      case "createContainer":
      case "createTTL":
        return this.#create(op);
      case "delete":
      case "check":
        return { path, version: anyVersion(dice) };
      case "setData":
        return {
          path: ownPath(path),
          data: anyData(dice),
          version: anyVersion(dice),
        };
      case "setACL":
        return {
          path: ownPath(path),
          acl: anyAcl(dice, path),
          version: anyVersion(dice),
        };
      case "exists":
      case "getData":
      case "getChildren":
      case "getChildren2":
        return { path, watch };
      case "addWatch":
        // With a watch on null, 3.8.0 did not close the connection when its session moved on.
        return {
          path: path ?? "/@",
          mode: dice.pick([0, 0, 0, 1, 1, 1, 2, -1]),
        };
      case "checkWatches":
      case "removeWatches":
        return { path, type: dice.pick([1, 1, 2, 2, 3, 3, 3, 4, 5, 0, 6]) };
      case "setWatches":
      case "setWatches2":
        return this.#watches(op);
      case "getEphemerals":
        return {
          prefixPath: dice.pick(["/@", "/@/a", "/", "", "/@/s", "/x", path]),
        };
      case "getAllChildrenNumber":
        // What "/" has below it is of all traces.
        return { path: path === "/" || path === "" ? "/@" : path };
      case "getACL":
      case "sync":
        return { path };
      case "reconfig":
        return {
          joiningServers: dice.pick([null, "", "server.1=127.0.0.1:1:2;3"]),
          leavingServers: dice.pick([null, "", "1"]),
          newMembers: null,
          curConfigId: BigInt(dice.pick([-1, 0, 7])),
        };
      default:
        return null;
    }
  }

  #create(op: string): Request["body"] {
    const dice = this.#dice;
    const flags = dice.chance(4)
      ? dice.pick([4, 5, 6, 7, 9, -1, 256])
      : op === "createContainer"
      ? dice.pick([4, 4, 4, 4, 0, 1, 2])
      : op === "createTTL"
      ? dice.pick([5, 5, 5, 6, 6, 0, 1, 4])
      : dice.pick([0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3]);
    const isNumbered = flags === 2 || flags === 3 || flags === 6;
    const found = ownPath(this.#path());
    // Numbers of "/" and of the traces' roots depend on other traces.
    const isShared = isNumbered && ["/", "", "/@"].includes(found);
    const path = isShared || isNumbered && dice.chance(80)
      ? sequentialPath(dice)
      : found;
    const body = { path, data: anyData(dice), acl: anyAcl(dice, path), flags };
    if (op !== "createTTL") return body;
    // Long enough not to run out within a trace.
    const ttl = dice.pick([600_000, 600_000, 600_000, 2 ** 40 - 1]);
    const badTtl = dice.pick([0, -1, 2 ** 40, -(2 ** 60)]);
    // A real server looks at the ttl of flags 5 and 6 only; with others a bad one
    // ends its process, and every start of it after that.
    const isChecked = flags === 5 || flags === 6;
    const isBad = isChecked && dice.chance(20);
    return { ...body, ttl: BigInt(isBad ? badTtl : ttl) };
  }

  #watches(op: string): Request["body"] {
    const dice = this.#dice;
    const some = () => dice.chance(1) ? null : dice.some(3, () => this.#path());
    const first = {
      relativeZxid: dice.pick([
        0,
        this.#zxid,
        this.#zxid,
        Math.max(0, this.#zxid - dice.below(40)),
        this.#zxid + 5,
      ]),
      dataWatches: some(),
      existWatches: some(),
      childWatches: some(),
    };
    if (op === "setWatches") return first;
    return {
      ...first,
      // Not on null, for the reason that addWatch has.
      persistentWatches: some()?.filter((path) => path !== null) ?? null,
      persistentRecursiveWatches: some()?.filter((path) => path !== null) ??
        null,
    };
  }
}

function authOf(scheme: string, text: string): Request {
  const auth = new TextEncoder().encode(text);
  return { op: "auth", body: { type: 0, scheme, auth } };
}

function pathIn(heard: Heard): string | undefined {
  const body = heard.body as { path?: unknown } | null | undefined;
  return heard.what === "reply" && typeof body?.path === "string"
    ? body.path
    : undefined;
}

/** Frames that are none. */
const oddFrames: readonly Uint8Array[] = [
  // No length to speak of, no header, half a header.
  [0, 0, 0, 0],
  [0, 0, 0, 1, 7],
  [0, 0, 0, 4, 0, 0, 0, 9],
  [0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0],
  // Negative; one byte more than a server takes; a four-letter word, too late.
  [255, 255, 255, 251],
  [255, 255, 255, 255],
  [0, 16, 0, 0],
  [0x72, 0x75, 0x6f, 0x6b],
  // Whole, with a byte too many: ping, getData of "/".
  [0, 0, 0, 9, 255, 255, 255, 254, 0, 0, 0, 11, 0],
  [0, 0, 0, 15, 0, 0, 0, 5, 0, 0, 0, 4, 0, 0, 0, 1, 0x2f, 0, 9],
  // getData with a path of length -2, of 2^31-1; create with a list of -5.
  [0, 0, 0, 12, 0, 0, 0, 5, 0, 0, 0, 4, 255, 255, 255, 254],
  [0, 0, 0, 12, 0, 0, 0, 5, 0, 0, 0, 4, 127, 255, 255, 255],
].map((bytes) => Uint8Array.from(bytes));
