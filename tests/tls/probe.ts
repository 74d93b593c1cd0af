// Connects as it is told, and prints what came of it: one program for every runtime.
// Must not know what is to be expected. Leaves no handle open, or it would not end.
// Run by runtimes.ts; the argument is a file with a list of jobs.

import { readFileSync } from "node:fs";
import process from "node:process";
import { inspect } from "node:util";
import {
  type Client,
  connect,
  type ConnectOptions,
  ExclusiveLock,
  SequentialLock,
  TlsError,
  type TlsOptions,
} from "../../mod.ts";
import { hostEnvironment } from "../../protocol/environment.ts";
import { pickTransport } from "../../protocol/transport/mod.ts";

/** What to do. */
export interface Job {
  name: string;
  servers: string;
  tls?: TlsOptions | boolean;
  /** ms; default: longer than anything takes. */
  connectTimeout?: number;
  /** The connect timeout is over when so many attempts have been made, however long they took. */
  attempts?: number;
  /** Abort after so many ms. */
  abortAfter?: number;
  /** Where to ask for all connections to be cut, by any connection. */
  cutAt?: number;
  /** What to do when connected; default: read the root. "unref" leaves it open. */
  then?: "lock" | "unref";
}

/** What came of it. */
export interface Outcome {
  name: string;
  /** "connected", what the job says then, or the name of an error. */
  outcome: string;
  code?: string;
  /** The code of its cause, if that is a TlsError. */
  cause?: string;
  server?: string;
  message?: string;
  /** All that a log of the error would show. */
  shown?: string;
}

async function perform(job: Job): Promise<Outcome> {
  const { name, servers, tls, connectTimeout = 120_000, abortAfter } = job;
  const stop = new AbortController();
  const timer = abortAfter &&
    setTimeout(() => stop.abort(new Error("Given up")), abortAfter);
  try {
    const { signal } = stop;
    const zk = await connect(servers, {
      tls,
      connectTimeout,
      signal,
      ...job.attempts ? impatient(job.attempts, connectTimeout) : {},
    });
    if (job.then === "unref") {
      zk.unref();
      return { name, outcome: "left open" };
    }
    try {
      const outcome = job.then === "lock"
        ? await lock(zk, job)
        : await look(zk);
      return { name, outcome };
    } finally {
      await zk.close();
    }
  } catch (error) {
    const { name: outcome, code, cause, message } = error as TlsError;
    const { server } = error as TlsError;
    const deep = cause instanceof TlsError ? cause.code : undefined;
    const shown = inspect(error, { depth: 10, showHidden: true });
    return { name, outcome, code, cause: deep, server, message, shown };
  } finally {
    clearTimeout(timer);
  }
}

/** Options by which the connect timeout is over at an attempt, not at a time: how long one takes is left to the machine. */
function impatient(attempts: number, connectTimeout: number): ConnectOptions {
  let over = () => {};
  return {
    environment: {
      ...hostEnvironment,
      after(ms, run, keepAlive) {
        if (ms === connectTimeout) over = run;
        return hostEnvironment.after(ms, run, keepAlive);
      },
    },
    transport(address, handlers) {
      if (attempts-- === 0) queueMicrotask(over);
      return pickTransport(address, handlers);
    },
  };
}

async function look(zk: Client): Promise<string> {
  await zk.getChildren("/");
  if (await zk.serverVersion() === null) throw new Error("No version");
  return "connected";
}

/** Takes, waits, loses the connection, and gives back. */
async function lock(zk: Client, { servers, tls, cutAt }: Job): Promise<string> {
  const root = `/tls-${zk.session.id.toString(16)}`;
  const other = await connect(servers, { tls, connectTimeout: 120_000 });
  try {
    for (const Lock of [SequentialLock, ExclusiveLock]) {
      const path = `${root}/${Lock.name}`;
      const first = await new Lock(zk, path).acquire();
      let tell = () => {};
      const queued = new Promise<void>((resolve) => tell = resolve);
      const waiting = new Lock(other, path).acquire({
        onQueued: () => tell(),
      });
      await queued;
      waiting.catch(() => {}); // Awaited below, unless something fails before.
      if (cutAt) await fetch(`http://127.0.0.1:${cutAt}/`);
      // A read is sent again by itself; a write may be lost with the connection.
      await zk.exists(path);
      await first.guard([{ op: "create", path: `${path}-done` }]);
      if (!await first.release()) throw new Error("It was lost");
      const second = await waiting;
      if (second.token <= first.token) throw new Error("Tokens do not grow");
      await second.release();
    }
    return "locked";
  } finally {
    await other.close();
  }
}

const jobs = JSON.parse(readFileSync(process.argv[2], "utf8")) as Job[];
// At the same time: some are about waiting.
console.log(JSON.stringify(await Promise.all(jobs.map(perform))));
