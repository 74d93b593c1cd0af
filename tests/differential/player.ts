// Plays commands on one server, one after the other, over connections of its own, and says what it heard.
// Must not know the client under test, nor which server it is.
// Used by trace.ts, which has two of them.

import { Reader } from "../../protocol/jute.ts";
import { type Operation, ping } from "../../protocol/operations.ts";
import * as r from "../../protocol/records.ts";
import type { Stat } from "../../protocol/znode.ts";
import { framed, joined } from "../protocol/wire.ts";
import {
  type Command,
  encoded,
  type Hello,
  operationOf,
  type Place,
  type Request,
  reservedXid,
} from "./commands.ts";
import { type Address, Line } from "./line.ts";
import {
  event,
  type Heard,
  hello,
  isEvent,
  reply,
  type Terms,
} from "./normal.ts";

/** How many connections a trace has. */
export const lineCount = 3;

/** What came of a command, by connection. */
export type Outcome = readonly (readonly Heard[])[];

interface Session {
  id: bigint;
  passwd: Uint8Array | null;
  isOver: boolean;
}

/** A connection, and what it still owes. */
interface Seat {
  line: Line;
  /** Undefined: an operation we know nothing of. */
  owed: (Operation | undefined)[];
  xid: number;
}

const noPassword = new Uint8Array(16);
const open = [{ perms: 31, scheme: "world", id: "anyone" }];
const generous = 60_000;

/** One server and what a trace has made there. */
export class Player implements Terms {
  readonly place: Place;
  rootStat: Stat | null = null;
  /** For tests: may change what came. */
  tamper: (frame: Uint8Array) => Uint8Array = (frame) => frame;
  readonly #address: Address;
  readonly #sessions: Session[] = [];
  readonly #seats: (Seat | null)[] = Array(lineCount).fill(null);
  /** Number of the session a connection has, or had last. */
  readonly #owners: (number | null)[] = Array(lineCount).fill(null);
  #heard: Heard[][] = [];

  private constructor(address: Address, root: string) {
    this.#address = address;
    this.place = { root, base: 0n };
  }

  /** Makes the trace's root; the zxids of the trace begin with the next one. */
  static async start(address: Address, root: string): Promise<Player> {
    const player = new Player(address, root);
    await player.#prepare();
    return player;
  }

  sessionOf(id: bigint): number | string {
    const at = this.#sessions.findIndex((session) => session.id === id);
    return at >= 0 ? at : "unknown";
  }

  /** Plays a command; everything that it sets off has arrived when this resolves. */
  async play(command: Command): Promise<Outcome> {
    this.#heard = Array.from({ length: lineCount }, () => []);
    const { on } = command;
    if (command.do === "hello") await this.#hello(command);
    else if (command.do === "hangUp") await this.#hangUp(on);
    else {
      const seat = this.#seats[on] ?? await this.#seatAgain(on);
      if (seat !== null) await this.#ask(on, seat, command);
    }
    await this.#settle();
    // The order in which ephemerals die is that of a hash table.
    if (isEnd(command)) this.#heard.forEach(sortEvents);
    return this.#heard;
  }

  /** Ends what is left of the trace's sessions: later, by time, it would move zxids of other traces. */
  async end(): Promise<void> {
    for (const seat of this.#seats) await seat?.line.hangUp();
    for (const { id, passwd, isOver } of this.#sessions) {
      if (isOver) continue;
      const line = await Line.open(this.#address);
      line.send(helloFrame(id, passwd, 0n, generous, false));
      if (await line.next() instanceof Uint8Array) {
        line.send(encoded({ op: "closeSession", body: null }, 1, this.place));
        await line.next();
      }
      await line.hangUp();
    }
  }

  async #prepare(): Promise<void> {
    const line = await Line.open(this.#address);
    const ask = async (request: Request) => {
      line.send(encoded(request, 1, this.place));
      const frame = await line.next();
      if (!(frame instanceof Uint8Array)) throw new Error(`${frame}`);
      return frame;
    };
    line.send(helloFrame(0n, noPassword, 0n, generous, false));
    if (!(await line.next() instanceof Uint8Array)) throw new Error("No hello");
    const body = { path: "/@", data: null, acl: open, flags: 0 };
    await ask({ op: "create", body });
    await ask({ op: "setData", body: { path: "/", data: null, version: -1 } });
    const found = await ask({
      op: "exists",
      body: { path: "/", watch: false },
    });
    this.rootStat = r.Stat.read(new Reader(found.subarray(20)));
    const last = await ask({ op: "closeSession", body: null });
    this.place.base = r.ReplyHeader.read(new Reader(last.subarray(4))).zxid;
    await line.hangUp();
  }

  async #ask(
    on: number,
    seat: Seat,
    command: Command & { do: "ask" | "raw" },
  ): Promise<void> {
    if (command.do === "raw") {
      seat.owed.push(operationOf({ op: command.op, body: null }));
      seat.line.send(command.bytes);
    } else seat.line.send(this.#framesOf(command.requests, seat));
    await this.#drain(on, seat);
    // A real server hangs up a moment after an unknown operation's reply, and may
    // answer a ping in between.
    if (this.#heard[on].some(isFarewell)) await this.#seeOff(on, seat);
    if (command.do === "ask" && command.requests.some(isLast)) {
      const owner = this.#owners[on];
      const isClosed = this.#heard[on].some(({ what, op }) =>
        what === "reply" && op === "closeSession"
      );
      if (owner !== null && isClosed) this.#sessions[owner].isOver = true;
    }
  }

  #framesOf(requests: readonly Request[], seat: Seat): Uint8Array {
    return joined(...requests.map((request) => {
      seat.owed.push(operationOf(request));
      const xid = request.xid ?? reservedXid(request) ?? seat.xid++;
      return encoded(request, xid, this.place);
    }));
  }

  /** What a trace does not say: a connection that has ended is made again for the same session, or a new one. */
  async #seatAgain(on: number): Promise<Seat | null> {
    const owner = this.#owners[on];
    const isFree = owner !== null && !this.#sessions[owner].isOver &&
      !this.#seats.some((seat, i) => seat && this.#owners[i] === owner);
    await this.#hello({
      do: "hello",
      on,
      session: isFree ? owner : "new",
      password: "right",
      lastZxid: 0,
      timeOut: generous,
      readOnly: false,
    });
    return this.#seats[on];
  }

  async #hello(command: Hello): Promise<void> {
    const { on, session } = command;
    const isNew = session === "new";
    const known = typeof session === "number" && this.#sessions.length > 0
      ? session % this.#sessions.length
      : null;
    // If it is the session's own connection, the server has to end it.
    if (this.#owners[on] !== known || known === null) await this.#hangUp(on);
    const old = this.#seats[on];
    const line = await Line.open(this.#address);
    const id = known !== null
      ? this.#sessions[known].id
      : isNew
      ? 0n
      : 0x100000000000001n;
    const passwd = {
      right: known !== null ? this.#sessions[known].passwd : noPassword,
      wrong: new Uint8Array(16).fill(1),
      empty: new Uint8Array(0),
      short: new Uint8Array(8),
      null: null,
    }[command.password];
    const { lastZxid } = command;
    const zxid = lastZxid === null ? 0n : this.place.base + BigInt(lastZxid);
    const seat: Seat = { line, owed: [], xid: 1 };
    line.send(joined(
      helloFrame(id, passwd, zxid, command.timeOut, command.readOnly),
      this.#framesOf(command.requests ?? [], seat),
    ));
    const answer = await line.next();
    if (!(answer instanceof Uint8Array)) {
      this.#heard[on].push({ what: answer, op: "hello" });
      return await line.hangUp();
    }
    const body = r.ConnectResponse.read(new Reader(answer.subarray(4)));
    if (body.timeOut > 0 && known === null) {
      const { sessionId: id, passwd } = body;
      this.#sessions.push({ id, passwd, isOver: false });
    }
    this.#heard[on].push(hello(this.tamper(answer), this));
    if (body.timeOut <= 0) {
      if (known !== null && command.password === "right") {
        this.#sessions[known].isOver = true;
      }
      this.#heard[on].push({ what: `${await line.next()}`, op: "hello" });
      return await line.hangUp();
    }
    if (old) {
      // What the server still says to it, and that it ends it.
      old.owed.push(undefined);
      old.line.send(encoded({ op: "ping", body: null }, -2, this.place));
      await this.#drain(on, old);
      await old.line.hangUp();
    }
    this.#seats[on] = seat;
    this.#owners[on] = known ?? this.#sessions.length - 1;
    await this.#drain(on, seat);
  }

  async #hangUp(on: number): Promise<void> {
    await this.#seats[on]?.line.hangUp();
    this.#seats[on] = null;
  }

  /**
   * A ping on every connection: what comes before its reply is what the command set
   * off, as the server does one thing after the other; and the reply has the last zxid.
   */
  async #settle(): Promise<void> {
    for (const seat of this.#seats) {
      seat?.owed.push(ping);
      seat?.line.send(encoded({ op: "ping", body: null }, -2, this.place));
    }
    for (const [on, seat] of this.#seats.entries()) {
      if (seat) await this.#drain(on, seat);
    }
  }

  /** Gives the server time to hang up; what else it does is heard later. */
  async #seeOff(on: number, seat: Seat): Promise<void> {
    if (this.#seats[on] !== seat) return;
    if (await seat.line.isClosedWithin(400)) {
      seat.owed.push(undefined);
      await this.#drain(on, seat);
    }
  }

  /** Reads until nothing is owed, or no more comes. */
  async #drain(on: number, seat: Seat): Promise<void> {
    while (seat.owed.length > 0) {
      const next = await seat.line.next();
      if (next instanceof Uint8Array) {
        const frame = this.tamper(next);
        const heard = isEvent(frame)
          ? event(frame, this)
          : reply(frame, seat.owed.shift(), this);
        this.#heard[on].push(heard);
      } else {
        this.#heard[on].push({ what: next });
        await seat.line.hangUp();
        if (this.#seats[on] === seat) this.#seats[on] = null;
        return;
      }
    }
  }
}

function isFarewell({ what, op, header }: Heard): boolean {
  const err = (header as { err: number } | undefined)?.err;
  return what === "reply" &&
    (err === -6 || err === -115 || op === "closeSession");
}

function isEnd(command: Command): boolean {
  return command.do === "ask" && command.requests.some(isLast);
}

function isLast(request: Request): boolean {
  return request.op === "closeSession" || request.op === -11;
}

/** Sorts the events that follow one another. */
function sortEvents(heard: Heard[]): void {
  for (let from = 0; from < heard.length; from++) {
    let to = from;
    while (heard[to]?.what === "event") to++;
    const text = (one: Heard) => JSON.stringify(one);
    const part = heard.slice(from, to)
      .sort((a, b) => text(a) < text(b) ? -1 : 1);
    heard.splice(from, part.length, ...part);
    from = to;
  }
}

function helloFrame(
  sessionId: bigint,
  passwd: Uint8Array | null,
  lastZxidSeen: bigint,
  timeOut: number,
  readOnly: boolean | undefined,
): Uint8Array {
  return framed((to) =>
    r.ConnectRequest.write(to, {
      protocolVersion: 0,
      lastZxidSeen,
      timeOut,
      sessionId,
      passwd,
      readOnly,
    })
  );
}
