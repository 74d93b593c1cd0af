// One server of an ensemble: clients on one side, a leader on the other.
// Knows its own copy of the tree only; everything that is to be agreed goes to the leader.
// Made by ensemble.ts.

import { Answers } from "../../testing/answers.ts";
import type { Backend, Hello, Outcome } from "../../testing/backend.ts";
import { Replica, type Transaction } from "../../testing/ledger.ts";
import type { Peer } from "../../testing/peer.ts";
import type { Refusal, Write } from "../../testing/plan.ts";
import { type Profile, profiles } from "../../testing/profiles.ts";
import type { Random } from "../../testing/random.ts";
import type { Ensemble } from "./ensemble.ts";

/** A transaction on its way to being agreed. */
export interface Entry {
  readonly transaction: Transaction;
  /** Who has it on disk. */
  readonly acks: Set<Member>;
  /** Who waits for it. */
  readonly origin: Origin | undefined;
}

/** Where a write came from. */
export interface Origin {
  readonly member: Member;
  /** The life of that member in which it asked. */
  readonly life: number;
  readonly done: (outcome: Outcome) => void;
}

/** A server. */
export class Member implements Backend {
  readonly name: string;
  readonly profile: Profile = profiles["3.8"];
  readonly maxPacket = 0xfffff;
  answers: Answers;
  replica: Replica;
  readonly peers: Set<Peer> = new Set();
  /** On disk, in order; the first `applied` of them are agreed. */
  log: Entry[] = [];
  applied = 0;
  /** Number of the last leader it followed. */
  epoch = 0n;
  /** Sessions that showed signs of life since the leader last asked. */
  readonly touched: Set<bigint> = new Set();
  isUp = true;
  /** Takes part: follows a leader, or is the leader. */
  isServing = false;
  /** Whether it and the others can hear each other. */
  isLinked = true;
  /** Grows with each crash or new beginning: messages to or from an earlier life are lost. */
  life = 0;
  readonly #ensemble: Ensemble;
  readonly #random: Random;

  constructor(name: string, ensemble: Ensemble, random: Random) {
    this.name = name;
    this.#ensemble = ensemble;
    this.#random = random;
    this.replica = new Replica(this.profile);
    this.answers = this.#answers();
  }

  get zxid(): bigint {
    return this.replica.zxid;
  }

  /** Number of the last transaction on disk. */
  get logged(): bigint {
    return this.log.at(-1)?.transaction.zxid ?? 0n;
  }

  /** Whether another's disk counts for more: that of a later leader does, whatever is on it. */
  isBehind(other: Member): boolean {
    if (this.epoch !== other.epoch) return this.epoch < other.epoch;
    return this.logged < other.logged;
  }

  // What clients ask for

  hello(peer: Peer, hello: Hello): void {
    if (!this.isServing || hello.lastZxidSeen > this.zxid) return peer.finish();
    const { ensemble, origin } = this.#from((_) => {});
    const timeout = ensemble.granted(hello.timeOut);
    const { sessionId: id, passwd } = hello;
    if (id === 0n) {
      return ensemble.ask(this, () =>
        ensemble.open(this, timeout, {
          ...origin,
          done: ({ transaction }) =>
            peer.welcome(ensemble.sessionOf(transaction.opens!)),
        }));
    }
    for (const other of [...this.peers]) {
      if (other.session === id) other.finish();
    }
    ensemble.ask(this, () => {
      const session = ensemble.revalidate(this, {
        id,
        password: passwd,
        timeout,
      });
      ensemble.tell(
        this,
        () => session ? peer.welcome(session) : peer.refuse(),
      );
    });
  }

  touch({ session }: Peer): void {
    if (this.#ensemble.leader === this) this.#ensemble.touch(session);
    else this.touched.add(session);
  }

  write(
    peer: Peer,
    writes: readonly Write[] | Refusal,
    done: (outcome: Outcome) => void,
  ): void {
    const { ensemble, origin } = this.#from(done);
    ensemble.ask(this, () => ensemble.write(peer, writes, origin));
  }

  skip(): void {
    // For requests that none of the clients here makes.
  }

  closeSession(peer: Peer, done: (outcome: Outcome) => void): void {
    const { ensemble, origin } = this.#from(done);
    ensemble.ask(this, () => ensemble.close(peer.session, origin));
  }

  sync(_: Peer, done: () => void): void {
    const { ensemble, origin: { life } } = this.#from(() => {});
    ensemble.ask(
      this,
      () =>
        ensemble.whenAgreed(() =>
          ensemble.tell(this, () => {
            if (life === this.life) done();
          })
        ),
    );
  }

  word(): undefined {
    return undefined;
  }

  left(peer: Peer): void {
    this.peers.delete(peer);
    this.replica.watches.removeAll(peer);
  }

  // What the leader says

  /** Everything up to this entry is agreed. */
  applyUpTo(entry: Entry): void {
    const end = this.log.indexOf(entry, this.applied);
    for (; this.applied <= end; this.applied++) {
      this.#apply(this.log[this.applied]);
    }
  }

  /** Its process is gone, or starts anew: clients are hung up on, messages on their way are lost. */
  beginAnew(): void {
    this.life++;
    this.isServing = false;
    this.touched.clear();
    for (const peer of [...this.peers]) peer.finish();
  }

  /** Takes over a leader's log, of which so many are agreed. */
  follow(epoch: bigint, log: readonly Entry[], agreed: number): void {
    this.epoch = epoch;
    this.log = [...log];
    for (; this.applied < agreed; this.applied++) {
      this.#apply(this.log[this.applied]);
    }
  }

  #apply(entry: Entry): void {
    const { transaction, origin } = entry;
    const results = this.replica.apply(transaction);
    const isMine = origin?.member === this && origin.life === this.life;
    if (isMine) origin.done({ transaction, results });
    if (transaction.closes === undefined) return;
    for (const peer of [...this.peers]) {
      if (peer.session === transaction.closes) peer.finish();
    }
  }

  #from(
    done: (outcome: Outcome) => void,
  ): { ensemble: Ensemble; origin: Origin } {
    const origin = { member: this, life: this.life, done };
    return { ensemble: this.#ensemble, origin };
  }

  #answers(): Answers {
    const shuffle = (names: string[]) => this.#random.shuffle(names);
    return new Answers(this.replica, this.profile, shuffle);
  }
}
