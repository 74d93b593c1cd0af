// An ensemble: a leader, followers that lag behind it, elections; in the world's time.
// Agreement, sessions and expiry as in ZooKeeper; messages are calls that come late. Knows no clients but as peers.
// Used by the simulation in place of a network of servers. Source: Leader, LearnerHandler, SessionTrackerImpl.

import type { Intake, Line } from "../../testing/backend.ts";
import {
  type Replica,
  type Transaction,
  unknownSession,
} from "../../testing/ledger.ts";
import { Peer } from "../../testing/peer.ts";
import { Refusal, type Write } from "../../testing/plan.ts";
import type { Random } from "../../testing/random.ts";
import type { ServerSession } from "../../testing/session_table.ts";
import type { Change } from "../../testing/tree.ts";
import type { Doors } from "./machine.ts";
import { type Direction, Messages } from "./messages.ts";
import { type Entry, Member, type Origin } from "./member.ts";
import { type Known, Reign } from "./reign.ts";
import type { World } from "./world.ts";

/** How an ensemble is set up. Times in ms. */
export interface EnsembleOptions {
  size: number;
  tick: number;
  /** A follower that hears nothing for so many ticks gives up its leader. */
  syncLimit: number;
  /** Delay between two servers, one way. */
  delay: [least: number, most: number];
  /** How often emptied containers are removed. */
  reapInterval: number;
  /** Sessions end at the earliest legal moment, not at a tick. */
  isStrict: boolean;
}

/** Servers that agree. */
export class Ensemble implements Doors {
  readonly members: readonly Member[];
  leader: Member | null = null;
  /** Told of every transaction, when it is agreed. */
  onAgreed: (transaction: Transaction) => void = () => {};
  /** Asked for each write; a number is an error to answer instead. */
  onWrite: () => number | undefined = () => undefined;
  readonly #world: World;
  readonly #options: EnsembleOptions;
  readonly #random: Random;
  /** All sessions there ever were. */
  readonly #known: Known = new Map();
  readonly #messages: Messages;
  #agreed = 0;
  #cancelExpiry = () => {};
  #epoch = 0n;
  #reign: Reign;
  #waiting: { entry: Entry; run: () => void }[] = [];

  constructor(world: World, options: EnsembleOptions) {
    this.#world = world;
    this.#options = options;
    this.#random = world.random("ensemble");
    this.#messages = new Messages(
      world,
      world.random("messages"),
      options.delay,
    );
    this.#reign = this.#reigning([]);
    this.members = Array.from(
      { length: options.size },
      (_, i) => new Member(`zk${i}`, this, world.random(`member ${i}`)),
    );
    this.#elect();
    const { tick, reapInterval } = options;
    this.#every(
      tick / 2,
      this.#random.fraction() * tick / 2,
      () => this.#ask(),
    );
    this.#every(reapInterval, reapInterval, () => this.#reap());
  }

  /** For connect(). */
  get names(): string {
    return this.members.map(({ name }) => name).join(",");
  }

  /** The tree as far as anybody has decided on it. */
  get head(): Replica {
    return this.#reign.head;
  }

  /** Sessions that have not ended. */
  get sessions(): ServerSession[] {
    return this.#reign.sessions.list();
  }

  // Connections

  accept(host: string, line: Line): Intake | null {
    const member = this.members.find(({ name }) => name === host);
    if (!member?.isUp) return null;
    const peer = new Peer(line, member);
    member.peers.add(peer);
    return peer;
  }

  // What members ask the leader

  /** A member says something to the leader; the leader does so to itself. */
  ask(member: Member, run: () => void): void {
    this.#send(member, "up", run);
  }

  /** The leader says something to a member. */
  tell(member: Member, run: () => void): void {
    this.#send(member, "down", run);
  }

  granted(timeout: number): number {
    return Math.max(timeout, 2 * this.#options.tick);
  }

  sessionOf(id: bigint): ServerSession {
    return this.#known.get(id)!;
  }

  open(member: Member, timeout: number, origin: Origin): void {
    const id = (1n << 56n) | BigInt(this.#known.size + 1);
    const password = new Uint8Array(16);
    this.#random.fill(password);
    const { now } = this.#world;
    this.#reign.open({ id, password, timeout }, member, now);
    this.#watchExpiry();
    this.#propose(this.#reign.ledger.open(id, this.#time), origin);
  }

  /** The session, if it lives and the password is right; it belongs to this member from now on. */
  revalidate(
    member: Member,
    hello: { id: bigint; password: Uint8Array | null; timeout: number },
  ): ServerSession | undefined {
    return this.#reign.revalidate(hello, member, this.#world.now);
  }

  touch(session: bigint): void {
    this.#reign.sessions.touch(session, this.#world.now);
  }

  write(peer: Peer, writes: readonly Write[] | Refusal, origin: Origin): void {
    const { session } = peer;
    const time = this.#time;
    const number = this.onWrite();
    const refusal = number !== undefined
      ? new Refusal(number)
      : writes instanceof Refusal
      ? writes
      : this.#reign.sessions.get(session)
      ? undefined
      : unknownSession;
    const isMoved = refusal !== unknownSession &&
      this.#reign.owners.get(session) !== origin.member;
    if (isMoved) return this.tell(origin.member, () => peer.finish());
    this.#propose(
      refusal
        ? this.#reign.ledger.refuse(refusal, time)
        : this.#reign.ledger.write(writes as readonly Write[], peer, time),
      origin,
    );
  }

  /** Ends a session; answers whether there was one. */
  close(session: bigint, origin?: Origin): boolean {
    const was = this.#reign.sessions.close(session);
    if (was || origin) {
      this.#propose(this.#reign.ledger.close(session, this.#time), origin);
    }
    return was;
  }

  /** Somebody with a connection of their own, right beside the leader. Answers whether there is a leader. */
  operate(writes: readonly Write[]): boolean {
    if (this.leader === null) return false;
    const nobody = { session: 0n, identities: [] };
    this.#propose(this.#reign.ledger.write(writes, nobody, this.#time));
    return true;
  }

  /** Changes the tree, whatever it is like. */
  enact(changes: readonly Change[]): void {
    this.#propose(this.#reign.ledger.enact(changes, this.#time));
  }

  /** Calls back when everything proposed so far is agreed. */
  whenAgreed(run: () => void): void {
    const log = this.leader!.log;
    if (this.#agreed === log.length) return run();
    this.#waiting.push({ entry: log.at(-1)!, run });
  }

  // What happens to members

  /** A process dies. */
  kill(member: Member): void {
    member.isUp = false;
    member.beginAnew();
    this.#world.note(`${member.name} dies`);
    this.#lost(member);
  }

  /** It starts again. */
  restart(member: Member): void {
    if (member.isUp) return;
    member.isUp = true;
    this.#world.note(`${member.name} starts`);
    this.#join(member);
  }

  /** It and the others hear each other no more. */
  cut(member: Member): void {
    if (!member.isLinked) return;
    member.isLinked = false;
    this.#world.note(`${member.name} is cut off`);
    const { life } = member;
    const { tick, syncLimit } = this.#options;
    this.#world.after(tick * syncLimit, () => {
      const isPatient = member.isLinked || member.life !== life || !member.isUp;
      if (isPatient) return;
      member.beginAnew();
      this.#world.note(`${member.name} gives up`);
      this.#lost(member);
    });
  }

  /** They hear each other again. */
  heal(member: Member): void {
    if (member.isLinked) return;
    member.isLinked = true;
    this.#world.note(`${member.name} is back`);
    if (!member.isServing) return this.#join(member);
    const others = member === this.leader ? this.#followers() : [member];
    for (const each of others) this.#messages.flush(each);
  }

  // Inside

  /** The leader's clock, in whole ms. */
  get #time(): number {
    return Math.floor(this.#world.now);
  }

  #propose(transaction: Transaction, origin?: Origin): void {
    const entry: Entry = { transaction, acks: new Set([this.leader!]), origin };
    this.#reign.head.apply(transaction);
    this.leader!.log.push(entry);
    for (const member of this.#followers()) {
      this.tell(member, () => {
        member.log.push(entry);
        this.ask(member, () => {
          entry.acks.add(member);
          this.#agree();
        });
      });
    }
    this.#agree();
  }

  /** Whatever enough members have on disk is agreed, in order. */
  #agree(): void {
    const { log } = this.leader!;
    while (this.#agreed < log.length) {
      const entry = log[this.#agreed];
      if (entry.acks.size <= this.members.length / 2) return;
      this.#agreed++;
      this.onAgreed(entry.transaction);
      this.leader!.applyUpTo(entry);
      for (const member of this.#followers()) {
        this.tell(member, () => member.applyUpTo(entry));
      }
      const due = this.#waiting.filter((each) => each.entry === entry);
      this.#waiting = this.#waiting.filter((each) => each.entry !== entry);
      for (const { run } of due) run();
    }
  }

  #followers(): Member[] {
    return this.members.filter((member) =>
      member.isServing && member !== this.leader
    );
  }

  /** A member no longer takes part. Without enough of them there is no leader either. */
  #lost(member: Member): void {
    if (this.leader === null) return;
    const reachable = this.members.filter((each) =>
      each.isServing && (each.isLinked || each === this.leader)
    );
    const isEnough = reachable.length > this.members.length / 2;
    if (member !== this.leader && isEnough) return;
    this.#world.note("no leader");
    this.leader = null;
    this.#cancelExpiry();
    this.#waiting = [];
    for (const each of this.members) each.beginAnew();
    this.#electLater();
  }

  #electLater(): void {
    const patience = this.#options.tick * (0.2 + this.#random.fraction());
    this.#world.after(patience, () => this.#elect());
  }

  /** Who has most on disk leads. It begins when enough others have the same, and with that all of it is agreed. */
  #elect(): void {
    if (this.leader !== null) return;
    const able = this.members.filter(({ isUp, isLinked }) => isUp && isLinked);
    if (able.length <= this.members.length / 2) return this.#electLater();
    const first = able.reduce((a, b) => a.isBehind(b) ? b : a);
    const leader = this.#random.pick(
      able.filter((member) => !member.isBehind(first)),
    );
    this.leader = leader;
    this.#epoch++;
    this.#world.note(`${leader.name} leads`);
    for (const { transaction } of leader.log.slice(this.#agreed)) {
      this.onAgreed(transaction);
    }
    this.#agreed = leader.log.length;
    this.#reign = this.#reigning(leader.log);
    this.#watchExpiry();
    for (const member of able) {
      this.#messages.forget(member);
      member.follow(this.#epoch, leader.log, this.#agreed);
      member.isServing = true;
    }
  }

  #reigning(log: readonly Entry[]): Reign {
    const { tick, isStrict } = this.#options;
    const epoch = this.#epoch, known = this.#known, { now } = this.#world;
    const rounding = isStrict ? tick / 50 : tick;
    return new Reign({ epoch, now, tick: rounding, known }, log);
  }

  /** A member gets what it lacks and takes part. */
  #join(member: Member): void {
    const { leader } = this;
    if (leader === null || member === leader) return;
    if (!member.isUp || !member.isLinked || member.isServing) return;
    const { life } = member;
    this.#world.after(this.#random.fraction() * this.#options.tick / 4, () => {
      const isFine = this.leader === leader && member.life === life &&
        member.isUp && member.isLinked && !member.isServing;
      if (!isFine) return;
      this.#messages.forget(member);
      member.follow(this.#epoch, leader.log, this.#agreed);
      member.isServing = true;
      this.#world.note(`${member.name} follows`);
      for (const entry of leader.log.slice(this.#agreed)) {
        entry.acks.add(member);
      }
      this.#agree();
    });
  }

  #send(member: Member, direction: Direction, run: () => void): void {
    const { leader } = this;
    if (leader === null || !member.isServing) return;
    // To oneself, but not before what is going on is over.
    if (member === leader) {
      const { life } = leader;
      return void this.#world.after(0, () => {
        if (this.leader === leader && leader.life === life) run();
      });
    }
    const { life } = member;
    this.#messages.send(member, direction, {
      run,
      isVoid: () => this.leader !== leader || member.life !== life,
      isThrough: () => member.isLinked && leader.isLinked,
    });
  }

  /** The leader asks its followers who is alive. */
  #ask(): void {
    for (const member of this.#followers()) {
      this.tell(member, () => {
        const alive = [...member.touched];
        member.touched.clear();
        this.ask(member, () => alive.forEach((session) => this.touch(session)));
      });
    }
  }

  /** Looks again when the next session is due; signs of life do not move that. */
  #watchExpiry(): void {
    this.#cancelExpiry();
    const next = this.#reign.sessions.nextDeadline;
    if (this.leader === null || next === Infinity) return;
    this.#cancelExpiry = this.#world.at(next, () => {
      this.#expire();
      this.#watchExpiry();
    });
  }

  #expire(): void {
    for (const { id } of this.#reign.sessions.expired(this.#world.now)) {
      this.#world.note(`session ${id.toString(16)} expires`);
      this.close(id);
    }
  }

  #reap(): void {
    if (this.leader === null) return;
    for (const path of this.#reign.ledger.reapable(this.#time)) {
      this.#propose(this.#reign.ledger.reap(path, this.#time));
    }
  }

  #every(ms: number, first: number, run: () => void): void {
    this.#world.after(first, () => {
      run();
      this.#every(ms, ms, run);
    });
  }
}
