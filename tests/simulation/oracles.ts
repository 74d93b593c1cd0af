// What must never happen, whatever goes wrong: the invariants K1 to K8.
// Looks on; knows the agreed history and what contenders believe, and changes nothing.
// Used by simulate.ts.

import type { HeldLock } from "../../lock/mod.ts";
import { Replica, type Transaction } from "../../testing/ledger.ts";
import type { Znode } from "../../testing/tree.ts";
import { profiles } from "../../testing/profiles.ts";
import type { Machine } from "./machine.ts";
import type { Scenario } from "./scenario.ts";
import type { World } from "./world.ts";

/** Somebody who believes to have the lock. */
interface Hold {
  machine: Machine;
  held: HeldLock;
  /** In the world's time: when the belief ends if nothing is heard. */
  deadline: number;
  /** Since when its znode is gone. */
  goneSince?: number;
}

/** A belief may outlive its deadline by so many ms: timers are not exact. */
const tolerance = 3;

/** Judges a run. */
export class Oracles {
  readonly problems: string[] = [];
  grants = 0;
  /** Called with the first problem. */
  onProblem: () => void = () => {};
  readonly #world: World;
  readonly #scenario: Scenario;
  readonly #path: string;
  readonly #truth = new Replica(profiles["3.8"]);
  readonly #holds = new Set<Hold>();
  /** Znodes that were first in the queue at some time, by path and transaction. */
  readonly #heads = new Set<string>();
  /** Znodes that an operator removed: whose holders hear of it late. */
  readonly #administered = new Set<string>();
  /** Elements of the list whose write was answered. */
  readonly #acknowledged = new Set<string>();
  #lastToken = -1n;
  #highestWritten = 0n;
  /** When somebody last had to wait for somebody. */
  #crowdedAt = -Infinity;

  constructor(world: World, scenario: Scenario, path: string) {
    this.#world = world;
    this.#scenario = scenario;
    this.#path = path;
  }

  /** The tree as it was agreed. */
  get truth(): Replica {
    return this.#truth;
  }

  /** Believers. */
  get holds(): number {
    return this.#holds.size;
  }

  problem(text: string): void {
    this.#world.note(`PROBLEM ${text}`);
    if (this.problems.length < 5) this.problems.push(text);
    if (this.problems.length === 1) this.onProblem();
  }

  /** An operator is about to remove this znode. */
  administered({ path, czxid }: Znode): void {
    this.#administered.add(this.#nameOf(path, czxid));
  }

  /** A transaction is agreed. */
  agreed(transaction: Transaction): void {
    const { zxid, changes, refused, opens, closes } = transaction;
    this.#truth.apply(transaction);
    const what = changes.map((change) =>
      change ? `${change.type} ${change.path}` : "check"
    );
    if (opens !== undefined) what.push(`opens ${opens.toString(16)}`);
    if (closes !== undefined) what.push(`closes ${closes.toString(16)}`);
    if (refused) what.push(`refused ${refused.number}`);
    this.#world.note(`txn ${zxid.toString(16)} ${what.join(", ")}`);
    for (const change of changes) {
      if (change?.type === "set-data" && change.path === "/register") {
        this.#written(BigInt(new TextDecoder().decode(change.data!)));
      }
    }
    const head = this.#head();
    if (head !== undefined) this.#heads.add(head);
    if (this.#isCrowded()) this.#crowdedAt = this.#world.now;
  }

  /** tryAcquire(), called then, answered that somebody was ahead. */
  refused(machine: Machine, since: number): void {
    if (this.#crowdedAt >= since || this.#isCrowded()) return;
    this.problem(`K5 ${machine.name} tried, and was refused by nobody`);
  }

  /** release() answered whether it was ours; `state` is what it is now: lost, if that was before. */
  released(
    machine: Machine,
    held: HeldLock,
    state: string,
    was: boolean,
  ): void {
    const { path, token } = held;
    this.#world.note(`${machine.name} released ${path}: ${was}`);
    const isTaken = this.#administered.has(this.#nameOf(path, token));
    if (was === (state === "released") || (!was && isTaken)) return;
    this.problem(`K5 ${machine.name} released what is ${state} now: ${was}`);
  }

  /** acquire() resolved. */
  granted(machine: Machine, held: HeldLock): void {
    this.grants++;
    const { path, token } = held;
    this.#world.note(
      `${machine.name} granted ${path} token ${token.toString(16)}`,
    );
    const name = this.#nameOf(path, token);
    if (!this.#heads.has(name)) {
      this.problem(
        `K1 ${machine.name} was granted ${path} that never was first`,
      );
    }
    // Of a znode that an operator took away between, its holder may hear last.
    if (token <= this.#lastToken && !this.#isTaken(held)) {
      this.problem(
        `K7 ${machine.name} was granted ${token} after ${this.#lastToken}`,
      );
    }
    if (token > this.#lastToken) this.#lastToken = token;
    const hold: Hold = { machine, held, deadline: -Infinity };
    const remaining = machine.look(() => held.remaining);
    // Nothing remains if the process stood still while it was granted.
    if (remaining > 0) hold.deadline = machine.here + remaining / machine.rate;
    this.#holds.add(hold);
    held.signal.addEventListener("abort", () => {
      this.#world.note(`${machine.name} ${held.state} ${path}`);
      this.#holds.delete(hold);
    });
    if (held.signal.aborted) {
      this.problem(`K1 ${machine.name} was granted ${path} that it had lost`);
      this.#holds.delete(hold);
    }
  }

  /** A write to the list was answered. */
  acknowledged(element: string): void {
    this.#acknowledged.add(element);
  }

  /** Between two steps: nobody but one believes. */
  look(): void {
    if (this.#holds.size === 0) return;
    const { now } = this.#world;
    const believers: Hold[] = [];
    for (const hold of this.#holds) {
      const { machine, held } = hold;
      if (machine.isStanding) {
        // Its code does not run; the first that does reads the clock.
        if (hold.deadline > now + tolerance) believers.push(hold);
        continue;
      }
      this.#checkGone(hold);
      const remaining = machine.look(() => held.remaining);
      if (remaining > 0) hold.deadline = now + remaining / machine.rate;
      else if (now > this.#noticed(hold) + tolerance) {
        this.problem(
          `K2 ${machine.name} was not told that ${held.path} is lost`,
        );
      }
      if (hold.deadline > now) believers.push(hold);
    }
    if (believers.length < 2) return;
    const innocent = believers.filter((hold) => !this.#isTaken(hold.held));
    if (innocent.length < 2) return;
    const names = innocent.map(({ machine, held }) =>
      `${machine.name} ${held.path}`
    );
    this.problem(`K2 held at once: ${names.join(", ")}`);
  }

  /** Everything was healed and everybody asked to stop: nothing may be left. */
  quiesced(sessions: readonly bigint[]): void {
    const { tree } = this.#truth;
    for (const id of sessions) {
      const left = tree.ephemeralsOf(id);
      if (left.length > 0) this.problem(`K6 left behind: ${left.join(", ")}`);
    }
    const { data } = tree.get("/list")!;
    const list = new TextDecoder().decode(data ?? undefined).split(" ");
    const lost = [...this.#acknowledged].filter((one) => !list.includes(one));
    if (lost.length > 0) this.problem(`K4 lost: ${lost.join(", ")}`);
    if (new Set(list).size < list.length) {
      this.problem("K4 doubles in the list");
    }
    if (this.#holds.size > 0) {
      this.problem(`K6 ${this.#holds.size} still believe`);
    }
  }

  /** When whoever believes is to know at the latest that it is over. */
  #noticed({ machine, deadline }: Hold): number {
    // Whose clock jumped looks at it within a period.
    const looksBy = machine.jumpedAt +
      this.#scenario.timeout / 6 / machine.rate;
    return Math.max(deadline, machine.stoodUntil, looksBy);
  }

  /** Whether an operator took away what this hold stands on, which its holder may not know yet. */
  #isTaken({ path, token }: HeldLock): boolean {
    return this.#administered.has(this.#nameOf(path, token)) &&
      !this.#isThere(path, token);
  }

  #isThere(path: string, token: bigint): boolean {
    return this.#truth.tree.get(path)?.czxid === token;
  }

  /** Whoever's znode is gone hears of it by a heartbeat, or loses it by the clock. */
  #checkGone(hold: Hold): void {
    const { machine, held: { path, token } } = hold;
    const { now } = this.#world;
    if (this.#isThere(path, token)) return;
    hold.goneSince ??= now;
    const since = Math.max(
      hold.goneSince,
      machine.stoodUntil,
      machine.jumpedAt,
    );
    if (now - since <= 2 * this.#scenario.timeout) return;
    this.problem(`K2 ${machine.name} was not told that ${path} is gone`);
  }

  #written(token: bigint): void {
    if (token < this.#highestWritten) {
      this.problem(
        `K3 a write with ${token} was accepted after ${this.#highestWritten}`,
      );
    }
    this.#highestWritten = token;
  }

  /** Whether whoever enters now has somebody ahead. */
  #isCrowded(): boolean {
    const { tree } = this.#truth;
    if (this.#scenario.lock === "exclusive") {
      return tree.get(this.#path) !== undefined;
    }
    return this.#contenders().length > 1;
  }

  #contenders(): string[] {
    const names = [...this.#truth.tree.get(this.#path)?.children ?? []];
    return names.filter((name) => /\d{10}$/.test(name));
  }

  /** Who is first now. */
  #head(): string | undefined {
    const { tree } = this.#truth;
    if (this.#scenario.lock === "exclusive") {
      const znode = tree.get(this.#path);
      return znode && this.#nameOf(this.#path, znode.czxid);
    }
    const contenders = this.#contenders();
    if (contenders.length === 0) return undefined;
    const number = (name: string) => Number(name.slice(-10));
    const first = contenders.reduce((a, b) => number(b) < number(a) ? b : a);
    const path = `${this.#path}/${first}`;
    return this.#nameOf(path, tree.get(path)!.czxid);
  }

  /** Names in a queue are never used twice; an exclusive znode is known by the transaction that made it. */
  #nameOf(path: string, czxid: bigint): string {
    if (this.#scenario.lock === "sequential") return path;
    return `${path} ${czxid}`;
  }
}
