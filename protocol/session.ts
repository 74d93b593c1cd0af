// One ZooKeeper session as a state machine: handshake, watches, pings, expiry, reconnect.
// Knows no sockets, timers, clocks or promises: bytes and moments come in, calls to a Host go out.
// Driven by connection.ts; sessions.ts hands it requests.

import type { Session, SessionState } from "./news.ts";
import { errorNumbers, eventName, specialXids } from "./codes.ts";
import type { SessionKey } from "./detached.ts";
import {
  AuthFailedError,
  type ClientClosedError,
  ConnectionLossError,
  SessionExpiredError,
} from "./errors.ts";
import { Exchange } from "./exchange.ts";
import { Frames } from "./frames.ts";
import {
  type Hello,
  noPassword,
  readWelcome,
  type Welcome,
  writeHello,
} from "./handshake.ts";
import type { Credential, Host, SessionSettings } from "./host.ts";
import { demanded, Identity } from "./identity.ts";
import { Reader } from "./jute.ts";
import type { Moment } from "./moment.ts";
import * as ops from "./operations.ts";
import { givenUp, Pulse } from "./pulse.ts";
import { ReplyHeader, WatcherEvent } from "./records.ts";
import { Restoring } from "./restoring.ts";
import type { Pending, Request } from "./requests.ts";
import { Watches, type WatchEvent, type WatchKind } from "./watches.ts";

/** How a session can end. */
export type FinalState = "expired" | "auth-failed" | "closed";
type Attached = Welcome & { kind: "attached" };
type FinalReason = SessionExpiredError | AuthFailedError | ClientClosedError;

/** The state machine behind a {@linkcode Session}. */
export class SessionMachine implements Session {
  /** When frames left and came, and what follows from it. */
  readonly pulse: Pulse;
  readonly watches: Watches = new Watches();
  readonly #settings: SessionSettings;
  readonly #host: Host;
  readonly #exchange: Exchange;
  readonly #restoring: Restoring;
  readonly #abort = new AbortController();
  #id: bigint;
  #password: Uint8Array;
  #state: SessionState = "connecting";
  #lastZxid: bigint;
  /** What the current connection is good for. */
  #link: "none" | "handshake" | "ready" = "none";
  /** Whether requests left without waiting for the answer to the hello. */
  #isAhead = false;
  #hello: Hello | undefined;
  #welcome: Attached | undefined;
  #frames: Frames;
  readonly #identity: Identity;

  /** @param key Of a session to go on with; absent: a new one. */
  constructor(settings: SessionSettings, host: Host, key?: SessionKey) {
    this.#settings = settings;
    this.#host = host;
    this.#frames = new Frames(settings.maxPacket);
    this.pulse = new Pulse(settings.timeout);
    this.#id = key?.id ?? 0n;
    this.#password = key?.password ?? noPassword;
    this.#lastZxid = key?.zxid ?? 0n;
    this.#exchange = new Exchange(
      settings.xid ?? 0,
      this.pulse,
      this.watches,
      () => host.flushSoon(),
    );
    this.#restoring = new Restoring(this.watches, this.#exchange, host);
    this.#identity = new Identity(settings, this.#exchange);
  }

  get id(): bigint {
    return this.#id;
  }

  get timeout(): number {
    return this.pulse.timeout;
  }

  get state(): SessionState {
    return this.#state;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** True while requests go out at once. */
  get ready(): boolean {
    return this.#link === "ready";
  }

  /** True while requests go out together with the request for the session, or right behind it. */
  get eager(): boolean {
    const { eager, sasl } = this.#settings;
    return eager === true && sasl === undefined && this.#id === 0n &&
      this.#state === "connecting";
  }

  /** Whether anything was asked that is not answered. */
  get isBusy(): boolean {
    return this.#exchange.isBusy;
  }

  /** The newest transaction this session knows of. */
  get lastZxid(): bigint {
    return this.#lastZxid;
  }

  /** Proves to a server that the session is ours. A secret. */
  get password(): Uint8Array {
    return this.#password;
  }

  // What the connection reports

  /** A connection stands; `unsupported` is what is known of the server behind it. */
  opened(unsupported: Set<number>): void {
    this.#link = "handshake";
    this.#exchange.unsupported = unsupported;
    this.#frames = new Frames(this.#settings.maxPacket);
    this.pulse.opened();
    const hello = this.#hello = {
      lastZxid: this.#lastZxid,
      timeout: this.#settings.timeout,
      sessionId: this.#id,
      password: this.#password,
      readOnly: this.#settings.readOnly,
    };
    this.#exchange.out.packet((to) => writeHello(to, hello));
    this.#isAhead = this.eager;
    if (this.#isAhead) {
      // Servers read nothing behind the hello before the session stands (measured).
      this.#identity.showAll();
      this.#exchange.resume(() => {});
    }
    this.#host.flushSoon();
  }

  /** The bytes to write now, or null. The caller may keep them. */
  flush(now: Moment): Uint8Array | null {
    const { out } = this.#exchange;
    const touches = out.touching;
    const bytes = out.take();
    if (bytes === null) return null;
    this.#host.traced?.("sent", bytes);
    if (!touches) return bytes;
    const wake = this.pulse.sent(now);
    if (wake !== undefined) this.#host.wakeAt(wake);
    return bytes;
  }

  /** Bytes came in. */
  received(chunk: Uint8Array, now: Moment): void {
    if (this.#link === "ready") this.pulse.heard(now);
    try {
      this.#frames.push(chunk);
      while (this.#link !== "none") {
        const packet = this.#nextPacket();
        if (packet === null) break;
        this.#host.traced?.("received", packet);
        if (this.#link === "ready") this.#packet(packet, now);
        else this.#beforeReady(packet, now);
      }
      this.pulse.partial(this.#frames.partial > 0);
    } catch (error) {
      if (!(error instanceof AuthFailedError)) {
        return this.#host.disconnect(error as Error);
      }
      this.end("auth-failed", error);
    }
  }

  /** The connection is gone; `byServer` if the server ended it in order. */
  lost(cause?: Error, byServer = false): void {
    if (this.#link === "none") return;
    const wasReady = this.#link === "ready";
    const refusal = byServer ? this.#identity.hungUp() : undefined;
    this.#unlink();
    this.#exchange.interrupt(cause);
    if (refusal !== undefined) return this.end("auth-failed", refusal);
    const { expiresAt } = this.pulse;
    if (expiresAt !== undefined) this.#host.wakeAt(expiresAt);
    if (!wasReady || this.signal.aborted) return;
    this.#state = "disconnected";
    this.#host.changed(cause);
  }

  /** Time passed. Says by host.wakeAt() when to call again. */
  tick(now: Moment): void {
    if (this.#link !== "ready") return this.#tickUnattached(now);
    const awaited = this.#restoring.isPending
      ? undefined
      : this.#exchange.awaited;
    const verdict = this.pulse.check(now, awaited);
    if (verdict === "silent" || verdict === "late") {
      return this.#host.disconnect(givenUp(verdict, this.timeout));
    }
    if (verdict === "ping") this.#exchange.ping();
    this.#host.wakeAt(this.pulse.next(now, awaited));
  }

  // What the client asks

  /** Sends a request, or keeps it until it can be sent. Throws a RangeError if it is too large. */
  request(request: Request): Pending {
    return this.#exchange.add(request, this.#isSending);
  }

  /** Nobody waits for this request any more. */
  cancel(pending: Pending): void {
    this.#exchange.cancel(pending);
  }

  /** Shows a credential that was added to the settings. */
  authenticate(credential: Credential): void {
    if (this.#isSending) this.#identity.show(credential);
  }

  /** The server has taken these watches away. */
  dropWatches(kinds: readonly WatchKind[], path: string): void {
    const watchers = this.watches.remove(kinds, path);
    this.#host.notify(watchers, { type: "watch-removed", path });
  }

  /**
   * Leaves: ends everything that relies on the session, then sends what is
   * queued and closeSession. `done` is called when the server confirmed.
   */
  close(reason: ClientClosedError, done: () => void): void {
    const isSending = this.#isSending;
    this.#finish("closed", reason);
    if (this.#id === 0n && !isSending) return done();
    this.#exchange.add({
      op: ops.closeSession,
      body: null,
      path: null,
      resolve: done,
      reject: done,
    }, isSending);
  }

  /** The session is over, here and now. */
  end(state: FinalState, reason: FinalReason): void {
    this.#unlink();
    this.#finish(state, reason);
    this.#exchange.end(reason, this.#id);
  }

  // Inside

  get #isSending(): boolean {
    return this.ready || (this.#link === "handshake" && this.#isAhead);
  }

  #unlink(): void {
    this.#link = "none";
    this.pulse.lost();
    this.#identity.lost();
    this.#restoring.lost();
  }

  /** Tells everybody who relies on the session that it will not come back. */
  #finish(state: FinalState, reason: FinalReason): void {
    if (this.signal.aborted) return;
    this.#state = state;
    this.#host.ended();
    this.#abort.abort(reason);
    for (const { path, watcher } of this.watches.clear()) {
      this.#host.notify([watcher], { type: "session-lost", path });
    }
    this.#host.changed(reason);
  }

  #tickUnattached(now: Moment): void {
    const { expiresAt } = this.pulse;
    if (expiresAt === undefined || this.#id === 0n) return;
    if (this.pulse.expired(now)) this.#expireUnheard();
    else this.#host.wakeAt(expiresAt);
  }

  #expireUnheard(): void {
    const message = `Session expired: no server answered for 4/3 of ` +
      `${this.timeout} ms (0x${this.#id.toString(16)})`;
    this.end(
      "expired",
      new SessionExpiredError(this.#id, "unknown", { message }),
    );
  }

  #expireTold(): void {
    this.end("expired", new SessionExpiredError(this.#id, "unknown"));
  }

  #nextPacket(): Uint8Array | null {
    try {
      return this.#frames.next();
    } catch (error) {
      // Too large: presumably what the oldest request asked for.
      this.#exchange.blame(error as Error);
      throw error;
    }
  }

  /** SASL comes before everything: a server that demands it hangs up on who sends anything else. */
  #beforeReady(packet: Uint8Array, now: Moment): void {
    if (this.#identity.isTalking) this.#identity.hear(packet);
    else if (!this.#welcomed(packet)) return;
    if (!this.#identity.isTalking) this.#attach(this.#welcome!, now);
  }

  /** The answer to the handshake. False if the session does not stand. */
  #welcomed(packet: Uint8Array): boolean {
    const answer = readWelcome(packet, this.#hello!);
    if (answer.kind === "attached") {
      this.#welcome = answer;
      this.#id = answer.sessionId;
      this.#password = answer.password;
      this.#identity.talk();
      return true;
    }
    if (answer.kind === "expired" && this.#id !== 0n) {
      this.#expireTold();
      return false;
    }
    const why = answer.kind === "refused"
      ? answer.why
      : "the server granted no timeout";
    throw new ConnectionLossError("connect", null, "unknown", {
      message: `Cannot connect: ${why}`,
    });
  }

  /**
   * The order on a new connection: credentials, watches, what must go out again,
   * the heartbeat (host.attached), what was queued. All leave in one write.
   */
  #attach(welcome: Attached, now: Moment): void {
    const again = this.#hello!.sessionId !== 0n;
    this.pulse.attached(welcome.timeout, now);
    this.#link = "ready";
    if (!this.#isAhead) this.#identity.showAll();
    if (again) this.#restoring.begin(this.#lastZxid);
    this.#exchange.resume(() => {
      if (this.signal.aborted) return;
      this.#state = welcome.readOnly ? "connected-read-only" : "connected";
      this.#host.attached();
    });
    if (!this.signal.aborted) this.#host.changed();
    this.tick(now);
  }

  #packet(packet: Uint8Array, now: Moment): void {
    const reader = new Reader(packet);
    const header = ReplyHeader.read(reader);
    const { xid, zxid, err } = header;
    if (xid === specialXids.event) return this.#event(reader, zxid);
    // Events carry -1 up to 3.8, refusals of unknown operations too (rust-zookeeper#50).
    if (zxid > this.#lastZxid) this.#lastZxid = zxid;
    if (err === errorNumbers.SessionClosedRequireSaslAuth) {
      throw demanded();
    }
    if (xid === specialXids.ping) return this.#exchange.pong(zxid);
    if (xid === specialXids.auth) return this.#identity.answered(err);
    if (xid === specialXids.setWatches) return this.#watchesRestored(err, now);
    const news = this.#exchange.reply(header, reader, now);
    if (news === "expired") return this.#expireTold();
    if (news === "moved") return this.#moved();
  }

  #event(reader: Reader, zxid: bigint): void {
    const { type: number, path } = WatcherEvent.read(reader);
    const type = eventName(number);
    // Unknown types are newer than we are, and nobody can have asked for one.
    if (type === undefined) return;
    const event: WatchEvent = zxid > 0n ? { type, path, zxid } : { type, path };
    this.#host.notify(this.watches.fire(type, path), event);
  }

  #watchesRestored(err: number, now: Moment): void {
    this.#restoring.answered(err);
    this.#exchange.answered(now);
    // What waits for its answer has been passed over until now.
    if (!this.#restoring.isPending) this.tick(now);
  }

  #moved(): void {
    this.#host.disconnect(
      new ConnectionLossError("connect", null, "unknown", {
        message: "Lost the connection: the session moved to another one",
      }),
    );
  }
}
