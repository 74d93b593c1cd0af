// Mistakes that were made before, or that a model has shown to be mistakes: the simulation must see each of them.
// Text only: what to replace by what. M… are those of the safety paper, 1m… and 7… those of its models.
// Made into libraries by mutate.ts.

import type { Scenario } from "./scenario.ts";

/** A mistake. */
export interface Mutant {
  name: string;
  what: string;
  /** Only seeds with this lock can show it. */
  lock?: Scenario["lock"];
  patches: readonly Patch[];
}

/** Replaces a text that stands once in a file. */
export interface Patch {
  file: string;
  from: string;
  to: string;
}

/** Where the seeds that catch them are kept, by name. */
export const seedsFile: URL = new URL("./mutant_seeds.json", import.meta.url);

/** Grants as soon as the one ahead is gone, without looking who else is there. */
function grantOnEvent(condition: string): Patch[] {
  return [{
    file: "lock/contend.ts",
    from: "readonly #watcher = (_: WatchEvent): void => {",
    to: `#isGone = false;
  readonly #watcher = ({ type }: WatchEvent): void => {
    this.#isGone = type === "deleted";`,
  }, {
    file: "lock/contend.ts",
    from: "if (watched) await turn.sleep();",
    to: `if (watched) await turn.sleep();
      if (this.#isGone && ${condition} && !turn.over && place.session.state === "connected") {
        const end = await this.#grant(place);
        if (end !== "again") return end;
      }`,
  }];
}

/** Another deadline: what is believed after a heartbeat that left at `since`. */
function deadline(news: string): Patch[] {
  return [{
    file: "lock/lease.ts",
    from: "if (before !== undefined) this.#consider(before);",
    to: `void before;\n    ${news}`,
  }];
}

const file = (file: string, from: string, to: string): Patch => ({
  file,
  from,
  to,
});

/** All of them. */
export const mutants: readonly Mutant[] = [
  {
    name: "M1",
    what: "looks for a znode whose reply was lost without sync",
    patches: [file(
      "lock/enter.ts",
      "const synced = client.sync(path);",
      "const synced = Promise.resolve();",
    )],
  },
  {
    name: "M2",
    what: "takes a znode of an earlier session for its own",
    lock: "sequential",
    patches: [
      file(
        "lock/enter.ts",
        "if (stat?.ephemeralOwner !== session.id) continue;",
        "if (stat === null) continue;",
      ),
      file(
        "lock/contend.ts",
        "this.#id = newId((bytes) => environment.random(bytes));",
        "const turn = this.#turn as { id?: string };\n    this.#id = turn.id ??= newId((bytes) => environment.random(bytes));",
      ),
    ],
  },
  {
    name: "M3",
    what:
      "believes the session for a timeout after anything the server answered (ping lease)",
    patches: [file(
      "protocol/pulse.ts",
      "return this.#attachedAt;\n  }",
      "return (this.#attachedAt && this.#heard && this.#times.before(this.#heard.mono)) ?? this.#attachedAt;\n  }",
    )],
  },
  {
    name: "M4",
    what: "counts from when the answer came, not from when the heartbeat left",
    patches: [
      file(
        "lock/lease.ts",
        "await this.#inside.multi(checks, { answerWithin: answerTime(session) });",
        "await this.#inside.multi(checks, { answerWithin: answerTime(session) });\n    const late = this.#now();\n    this.#consider(late);",
      ),
    ],
  },
  {
    name: "M5",
    what:
      "lists a watch on a znode that is there among those on znodes that are not, and looks at events only (1m1)",
    lock: "sequential",
    patches: [
      file(
        "protocol/questions.ts",
        '(err) => err === 0 ? "data" : undefined)',
        '(err) => err === 0 ? "exist" : undefined)',
      ),
      file(
        "lock/contend.ts",
        "if (watched) await turn.sleep();",
        `const isAlive = () => !turn.over && !place.session.signal.aborted;
      while (watched && this.#watched && isAlive()) await turn.sleep();`,
      ),
    ],
  },
  {
    name: "M6",
    what: "wakes only when the one ahead is deleted (1m2)",
    lock: "sequential",
    patches: [file(
      "lock/contend.ts",
      "readonly #watcher = (_: WatchEvent): void => {\n    this.#watched = undefined;",
      'readonly #watcher = ({ type }: WatchEvent): void => {\n    this.#watched = undefined;\n    if (type !== "deleted") return;',
    )],
  },
  {
    name: "M7",
    what: "grants when the one ahead is gone, whoever else is ahead",
    lock: "sequential",
    patches: grantOnEvent("true"),
  },
  {
    name: "M8",
    what:
      "grants when the only one ahead is gone, without knowing that its own znode is there",
    lock: "sequential",
    patches: grantOnEvent("ahead === 1"),
  },
  {
    name: "M9",
    what: "releases an exclusive lock by its path alone",
    lock: "exclusive",
    patches: [file(
      "lock/fence.ts",
      'const ops: Op[] = [this.checks[1], { op: "delete", path: this.path }];',
      'const ops: Op[] = [{ op: "delete", path: this.path }];',
    )],
  },
  {
    name: "M10",
    what:
      "releases an exclusive lock in the next session if it could not in its own",
    lock: "exclusive",
    patches: [
      file(
        "lock/fence.ts",
        'const ops: Op[] = [this.checks[1], { op: "delete", path: this.path }];',
        `const ops: Op[] = [this.checks[1], { op: "delete", path: this.path }];
    let isDone = false;
    const again = () => {
      if (!isDone) void this.#client.delete(this.path).catch(() => {});
    };
    if (this.#session.signal.aborted) again();
    else this.#session.signal.addEventListener("abort", () => queueMicrotask(again));`,
      ),
      file(
        "lock/fence.ts",
        "await internalsOf(this.#client).multi(ops, { resend });\n        return true;",
        "await internalsOf(this.#client).multi(ops, { resend });\n        isDone = true;\n        return true;",
      ),
    ],
  },
  {
    name: "M11",
    what: "orders the queue by whole names",
    lock: "sequential",
    patches: [file(
      "lock/queue.ts",
      "distance(a) - distance(b) || (a.name < b.name ? -1 : 1)",
      "a.name < b.name ? -1 : distance(a) === Infinity ? 0 : 1",
    )],
  },
  {
    name: "M12",
    what: "grants by a number that others have as well",
    lock: "sequential",
    patches: [file(
      "lock/contend.ts",
      "if (isExhausted(sequence) || tied) {",
      "if (isExhausted(sequence) && tied && path === sequence as unknown) {",
    )],
  },
  {
    name: "M13",
    what: "forgets its znode when it gives up waiting",
    lock: "sequential",
    patches: [file(
      "lock/contend.ts",
      "turn.entered(() => leave(this.#client, place));",
      "turn.entered(() => {});",
    )],
  },
  {
    name: "M14",
    what: "takes the number in the queue for a fencing token",
    lock: "sequential",
    patches: [file(
      "lock/place.ts",
      "this.token = place.token;",
      "this.token = BigInt(parseName(place.name)?.sequence ?? 0);",
    )],
  },
  {
    name: "1m3",
    what: "does not repeat a release whose reply was lost",
    lock: "sequential",
    patches: [
      file(
        "lock/place.ts",
        "await internalsOf(client).delete(place.path, { resend });",
        "void resend;\n    await client.delete(place.path);",
      ),
    ],
  },
  {
    name: "1m4",
    what: "forgets the znode if it gave up while that was being made",
    lock: "sequential",
    patches: [file(
      "lock/enter.ts",
      "leaseOf(client).committed(session, since);",
      "leaseOf(client).committed(session, since);\n      if (turn.over) return null;",
    )],
  },
  {
    name: "1m5",
    what: "goes to sleep although the one ahead is gone already",
    lock: "sequential",
    patches: [file(
      "lock/contend.ts",
      'if (code === "NoNode") return false;',
      'if (code === "NoNode") return true;',
    )],
  },
  {
    name: "1m6",
    what: "grants by a listing in which its own znode is missing",
    lock: "sequential",
    patches: [file(
      "lock/contend.ts",
      "if (standing === undefined) return vanished(place);",
      `if (standing === undefined) {
        const end = await this.#grant(place);
        if (end !== "again") return end;
        continue;
      }`,
    )],
  },
  {
    name: "old",
    what: "the deadline as it was first written: s + T - P - tick/2",
    patches: deadline(
      `const less = this.period + (this.#tick || this.#timeout / 2) / 2;
    this.#consider({ mono: since.mono - less, wall: since.wall - less });`,
    ),
  },
  {
    name: "7m3",
    what:
      "believes the session for a timeout after the last heartbeat that was answered",
    patches: deadline("this.#consider(since);"),
  },
  {
    name: "etcd",
    what:
      "grants after a long wait without asking whether the session still lives (etcd#11456)",
    patches: [file(
      "lock/contend.ts",
      "if (!this.#lease.lasting) {",
      "if (place.session.signal.aborted) {",
    )],
  },
  {
    name: "5m8",
    what:
      "takes an exclusive lock of its session for its own without looking at the fence",
    lock: "exclusive",
    patches: [file(
      "lock/seize.ts",
      `stat.ephemeralOwner === this.#session.id &&
        fenceStat.mzxid === stat.czxid &&
        new TextDecoder().decode(data ?? undefined) === id;`,
      "stat.ephemeralOwner === this.#session.id || (data as unknown) === id;",
    )],
  },
  {
    name: "stall",
    what:
      "sets the timer of the deadline by a clock it read before it stood still",
    patches: [file(
      "lock/lease.ts",
      "if (elapsed(now, this.#now()) > 1) this.#lookIn(0);",
      "",
    )],
  },
  {
    name: "guard",
    what: "guards a write by nothing",
    patches: [file(
      "lock/held_lock.ts",
      "await this.#client.multi([...checks, ...ops]);",
      "await this.#client.multi(ops);",
    )],
  },
  {
    name: "deaf",
    what: "does not tell a holder that an operator took its znode",
    lock: "sequential",
    patches: [
      file("lock/lease.ts", "gone.lose(error);", ""),
      file(
        "lock/held_lock.ts",
        "async #watch(): Promise<void> {",
        "async #watch(): Promise<void> {\n    if (this.path) return;",
      ),
    ],
  },
  {
    name: "twice",
    what: "asks again by an id that a session it never heard of may hold",
    lock: "sequential",
    patches: [file("lock/enter.ts", "if (isEager) id = newId();", "")],
  },
  {
    name: "never",
    what: "never gets what it only tries for",
    lock: "sequential",
    patches: [file(
      "lock/contend.ts",
      "const blockers = this.#settings.rule(order, ahead);",
      "const blockers = turn.trying ? order : this.#settings.rule(order, ahead);",
    )],
  },
  {
    name: "modest",
    what: "says of what it released that it was not its own",
    lock: "sequential",
    patches: [file(
      "lock/place.ts",
      "delete(place.path, { resend });\n    return true;",
      "delete(place.path, { resend });\n    return false;",
    )],
  },
  {
    name: "patient",
    what: "waits longer than it was told to",
    patches: [file(
      "lock/turn.ts",
      "if (timeout !== undefined) {\n      const { environment, session } = client;",
      "if (timeout === 0) {\n      const { environment, session } = client;",
    )],
  },
  {
    name: "hasty",
    what: "gives up before it was told to",
    patches: [file(
      "lock/turn.ts",
      "const wait = timeout || answerTime(session);",
      "const wait = timeout ? 1 : answerTime(session);",
    )],
  },
];
