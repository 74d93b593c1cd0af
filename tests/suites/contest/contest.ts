// Holds a contest: processes full of contenders, something that happens midway, and what is left in the end.
// Must not know what is to be expected.
// Called by contest_suite.ts.

import { AssertionError } from "@std/assert";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Client,
  connect,
  joinPath,
  ServerError,
} from "../../../protocol/mod.ts";
import { programOf } from "../programs.ts";
import { remove, until, within } from "../tools.ts";
import { type Line, parse } from "./history.ts";

/** The contenders, by process. */
export const crews: readonly string[] = ["a1,a2,a3", "b1,b2,b3", "c1,c2,c3"];

/** What is to be held. */
export interface Contest {
  servers: string;
  kind: "sequential" | "exclusive";
  /** How often each contender is to have the lock. */
  rounds: number;
  /** Done once a third of all grants are through, while the rest go on. */
  midway?: () => Promise<void>;
}

/** How it went. */
export interface Outcome {
  history: Line[];
  /** What the counter that the holders count with says. */
  count: number;
  /** How many grants were through when what happened midway had happened. */
  grantsMidway: number;
}

/** No contest takes longer, in ms, however busy the machine; two seconds are usual. */
const longest = 180_000;

/** Resolves when all are through and nothing is left of them; rejects if they do not come so far. */
export async function holdContest(contest: Contest): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), "zklock-contest-"));
  const zk = await connect(contest.servers, { sessionTimeout: 30_000 });
  const root = `/zklock-${crypto.randomUUID()}`;
  const file = join(folder, "history");
  const workers: Worker[] = [];
  try {
    await writeFile(file, "");
    await zk.create(`${root}/counter`, "0", { parents: true });
    await zk.sync(root);
    for (const names of crews) {
      const { servers, kind, rounds } = contest;
      workers.push(new Worker([servers, kind, root, file, `${rounds}`, names]));
    }
    await within("all are ready", all(workers, "ready"), longest);
    for (const worker of workers) worker.go();
    const ended = all(workers, "ended");
    ended.catch(() => {}); // It may be awaited too late.
    const grants = async () =>
      parse(await readFile(file, "utf8"))
        .filter(({ event }) => event === "granted").length;
    const third = crews.length * contest.rounds;
    const isThird = async () => await grants() >= third;
    await until("a third is through", isThird, longest);
    await contest.midway?.();
    const grantsMidway = await grants();
    await within("all are through", ended, longest);
    await cleared(zk, `${root}/locks`, contest.kind);
    const { data } = await zk.getData(`${root}/counter`);
    const [count] = new TextDecoder().decode(data!).split(" ");
    const history = parse(await readFile(file, "utf8"));
    return { history, count: Number(count), grantsMidway };
  } finally {
    await Promise.all(workers.map((worker) => worker.end()));
    await remove(zk, root);
    await zk.close();
    await rm(folder, { recursive: true });
  }
}

async function all(
  workers: readonly Worker[],
  what: "ready" | "ended",
): Promise<void> {
  await Promise.all(workers.map((worker) => worker[what]));
}

/** A process with contenders. */
class Worker {
  /** Resolves when all its contenders are connected. */
  readonly ready: Promise<void>;
  /** Resolves when it has ended well; rejects if it has not. */
  readonly ended: Promise<void>;
  readonly #process: ChildProcess;
  readonly #gone: Promise<void>;

  constructor(words: readonly string[]) {
    const [program, ...args] = programOf("contest/worker.ts");
    const child = spawn(program, [...args, ...words], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#process = child;
    this.#gone = new Promise((resolve) => child.on("close", () => resolve()));
    child.stdin.on("error", () => {}); // It may be gone.
    this.ended = new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code, signal) => {
        if (code === 0) resolve();
        else {reject(
            new AssertionError(`a worker ended with ${code ?? signal}`),
          );}
      });
    });
    const said = new Promise<void>((resolve) => {
      child.stdout.once("data", () => resolve());
    });
    this.ready = Promise.race([said, this.ended]);
    this.ready.catch(() => {});
    this.ended.catch(() => {});
  }

  /** Lets its contenders begin. */
  go(): void {
    this.#process.stdin!.end("go\n");
  }

  /** Kills it, if it still runs. */
  async end(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#gone;
  }
}

/** Waits, by child watches, until only what may stay is left: the fence, or the directory, which goes by itself. */
async function cleared(
  zk: Client,
  locks: string,
  kind: Contest["kind"],
): Promise<void> {
  await zk.sync(locks);
  if (kind === "sequential") await emptied(zk, joinPath(locks, "lock"), []);
  const stays = kind === "sequential" ? "lock" : "lock-fence";
  await emptied(zk, locks, [stays]);
}

async function emptied(
  zk: Client,
  path: string,
  mayStay: readonly string[],
): Promise<void> {
  for (;;) {
    let change = () => {};
    const changed = new Promise<void>((resolve) => change = resolve);
    try {
      const names = await zk.getChildren(path, { watch: () => change() });
      const left = names.filter((name) => !mayStay.includes(name));
      if (left.length === 0) return;
      await within(`${path} is empty of ${left}`, changed);
    } catch (error) {
      if (error instanceof ServerError && error.code === "NoNode") return;
      throw error;
    }
  }
}
