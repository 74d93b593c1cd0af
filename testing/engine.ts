// A ZooKeeper server of its own, without sockets: sessions, transactions, and time.
// Knows no network; connections come as peers, time as an Environment.
// Used by server.ts.

import type { Environment } from "../protocol/environment.ts";
import { Answers } from "./answers.ts";
import type { Backend, Hello, Outcome } from "./backend.ts";
import { Ledger, Replica, type Transaction, unknownSession } from "./ledger.ts";
import type { Peer } from "./peer.ts";
import { Refusal, type Write } from "./plan.ts";
import { type Profile, profiles, type ServerVersion } from "./profiles.ts";
import { SaslExchange, type SaslUsers } from "./sasl.ts";
import { type ServerSession, SessionTable } from "./session_table.ts";
import { answerWord } from "./words.ts";

/** How a server is set up. All times in ms. */
export interface EngineOptions {
  version: ServerVersion;
  /** Ends of sessions are rounded up to multiples of it. */
  tick: number;
  minSessionTimeout: number;
  maxSessionTimeout: number;
  /** How often containers and TTL nodes are looked at. */
  reapInterval: number;
  hasTtls: boolean;
  hasReconfig: boolean;
  maxPacket: number;
  /** Users of SASL; none: it is not set up. */
  saslUsers: SaslUsers | undefined;
  isSaslRequired: boolean;
}

/** One server. */
export class Engine implements Backend {
  readonly profile: Profile;
  readonly answers: Answers;
  readonly replica: Replica;
  readonly ledger: Ledger;
  readonly sessions: SessionTable;
  readonly peers: Set<Peer> = new Set();
  readonly options: EngineOptions;
  /** Whether it plays a server that has lost its ensemble. */
  isReadOnly: () => boolean = () => false;
  readonly #environment: Environment;
  #nextSession: bigint;
  #cancelExpiry = () => {};
  #cancelReaping = () => {};
  #isStanding = false;

  constructor(options: EngineOptions, environment: Environment) {
    this.options = options;
    this.#environment = environment;
    this.profile = profiles[options.version];
    this.replica = new Replica(this.profile);
    this.ledger = new Ledger(this.replica.tree, {
      ...this.profile,
      hasTtls: options.hasTtls,
      hasReconfig: options.hasReconfig,
      hasSasl: options.saslUsers !== undefined,
    });
    this.sessions = new SessionTable(options.tick);
    this.answers = new Answers(
      this.replica,
      this.profile,
      (names) => this.#shuffled(names),
    );
    // As on a real server: its number on top, then when it started.
    const started = BigInt(Math.floor(environment.wall()));
    this.#nextSession = (1n << 56n) | ((started & 0xffff_ffffffn) << 16n);
    this.#reapLater();
  }

  get zxid(): bigint {
    return this.replica.zxid;
  }

  get maxPacket(): number {
    return this.options.maxPacket;
  }

  get isSaslRequired(): boolean {
    return this.options.isSaslRequired && this.profile.version !== "3.4";
  }

  // What connections ask for

  hello(peer: Peer, hello: Hello): void {
    if (hello.lastZxidSeen > this.zxid) return peer.finish();
    const { minSessionTimeout: least, maxSessionTimeout: most } = this.options;
    const timeout = Math.min(Math.max(hello.timeOut, least), most);
    if (hello.sessionId === 0n) return peer.welcome(this.#open(timeout));
    // The old connection is closed before the password is looked at.
    this.connectionOf(hello.sessionId)?.finish();
    const session = this.sessions.get(hello.sessionId);
    if (!session || !isSame(session.password, hello.passwd)) {
      return peer.refuse();
    }
    session.timeout = timeout;
    this.#touch(session.id);
    peer.welcome(session);
  }

  /** As a server does that has lost its ensemble: only who can do with that gets a session, and it leaves no transaction. */
  helloReadOnly(peer: Peer, { readOnly, sessionId, timeOut }: Hello): void {
    if (!readOnly || sessionId !== 0n) return peer.finish();
    const { minSessionTimeout: least, maxSessionTimeout: most } = this.options;
    const timeout = Math.min(Math.max(timeOut, least), most);
    peer.welcome(this.#admit(timeout), true);
  }

  beginSasl(): SaslExchange | null {
    const { saslUsers } = this.options;
    if (saslUsers === undefined) return null;
    const nonce = new Uint8Array(16);
    this.#environment.random(nonce);
    const text = Array.from(nonce, (byte) => byte.toString(36).padStart(2, "0"))
      .join("");
    return new SaslExchange(saslUsers, text);
  }

  touch({ session }: Peer): void {
    this.#touch(session);
  }

  write(
    peer: Peer,
    writes: readonly Write[] | Refusal,
    done: (outcome: Outcome) => void,
  ): void {
    const time = this.#time();
    const refusal = this.sessions.get(peer.session)
      ? undefined
      : unknownSession;
    const transaction = refusal
      ? this.ledger.refuse(refusal, time)
      : writes instanceof Refusal
      ? this.ledger.refuse(writes, time)
      : this.ledger.write(writes, peer, time);
    done(this.#apply(transaction));
  }

  skip(): void {
    this.ledger.skipTo(this.ledger.zxid + 1n);
  }

  closeSession({ session }: Peer, done: (outcome: Outcome) => void): void {
    this.sessions.close(session);
    done(this.#apply(this.ledger.close(session, this.#time())));
    this.#watchExpiry();
  }

  sync(_: Peer, done: () => void): void {
    done();
  }

  word(word: string): string | undefined {
    return answerWord(word, this);
  }

  left(peer: Peer): void {
    this.peers.delete(peer);
    this.replica.watches.removeAll(peer);
  }

  // What somebody at the server may do

  /** The connection of a session, if there is one now. */
  connectionOf(session: bigint): Peer | undefined {
    for (const peer of this.peers) {
      if (peer.session === session && peer.isAttached) return peer;
    }
  }

  /** Ends a session as if it had been silent for too long. Answers whether it was there. */
  expire(session: bigint): boolean {
    if (!this.sessions.close(session)) return false;
    this.#apply(this.ledger.close(session, this.#time()));
    this.connectionOf(session)?.finish();
    return true;
  }

  /** Removes containers and TTL nodes that have outlived their purpose. Answers their paths. */
  reap(): string[] {
    const time = this.#time();
    const paths = this.ledger.reapable(time);
    for (const path of paths) this.#apply(this.ledger.reap(path, time));
    return paths;
  }

  /** Time stands still: nothing expires until thaw(). */
  freeze(): void {
    this.#isStanding = true;
    this.#cancelExpiry();
  }

  /** Time goes on, and what was due meanwhile happens. */
  thaw(): void {
    this.#isStanding = false;
    this.#expireDue();
  }

  /** Stops the clock for good. */
  stop(): void {
    this.freeze();
    this.#cancelReaping();
  }

  // Inside

  #open(timeout: number): ServerSession {
    const session = this.#admit(timeout);
    this.#apply(this.ledger.open(session.id, this.#time()));
    return session;
  }

  #admit(timeout: number): ServerSession {
    const password = new Uint8Array(16);
    this.#environment.random(password);
    const id = this.#nextSession++;
    const now = this.#environment.monotonic();
    const session = this.sessions.open(id, password, timeout, now);
    this.#watchExpiry();
    return session;
  }

  #touch(session: bigint): void {
    this.sessions.touch(session, this.#environment.monotonic());
  }

  #apply(transaction: Transaction): Outcome {
    return { transaction, results: this.replica.apply(transaction) };
  }

  #time(): number {
    return Math.floor(this.#environment.wall());
  }

  /** One timer, for whoever is due first. Signs of life do not move it: it looks again when it fires. */
  #watchExpiry(): void {
    this.#cancelExpiry();
    const next = this.sessions.nextDeadline;
    if (this.#isStanding || next === Infinity) return;
    const ms = Math.max(0, next - this.#environment.monotonic());
    this.#cancelExpiry = this.#environment.after(
      ms,
      () => this.#expireDue(),
      false,
    );
  }

  #expireDue(): void {
    const now = this.#environment.monotonic();
    for (const { id } of this.sessions.expired(now)) this.expire(id);
    this.#watchExpiry();
  }

  #reapLater(): void {
    const { reapInterval } = this.options;
    this.#cancelReaping = this.#environment.after(reapInterval, () => {
      if (!this.#isStanding) this.reap();
      this.#reapLater();
    }, false);
  }

  /** A different order each time: nobody should rely on one. */
  #shuffled(names: string[]): string[] {
    if (names.length < 2) return names;
    const random = new Uint32Array(1);
    this.#environment.random(new Uint8Array(random.buffer));
    let state = random[0];
    for (let i = names.length - 1; i > 0; i--) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      const j = state % (i + 1);
      [names[i], names[j]] = [names[j], names[i]];
    }
    return names;
  }
}

function isSame(a: Uint8Array, b: Uint8Array | null): boolean {
  return a.length === b?.length && a.every((byte, i) => byte === b[i]);
}
