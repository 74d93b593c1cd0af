// A real ZooKeeper server: start, kill, freeze, and start again as it was.
// Must not know the client under test: it asks with four-letter words only.
// Called by ensemble.ts, targets.ts and the tests that need a real server.

import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { install, type Version } from "./install.ts";
import { Jvm } from "./jvm.ts";
import { freePorts, host } from "./ports.ts";

/** How long a server may take to start, in ms, on a busy machine; it takes 0.5 s when left alone. */
export const startTimeout = 120_000;

/** What startServer() and startEnsemble() have in common. */
export interface Options {
  /** Default "3.8.0". */
  version?: Version;
  /** ms; default 200. */
  tickTime?: number;
  /** More lines for the configuration file; they win over the usual ones. */
  config?: readonly string[];
  /** More JVM options (-D… and others); they win over the usual ones. */
  jvm?: readonly string[];
  /** More jars for the class path. */
  jars?: readonly string[];
  /** Text files for its folder, by name: it runs there. */
  files?: Readonly<Record<string, string>>;
}

/** Options of {@link startServer}. */
export interface ServerOptions extends Options {
  /** Default: a free one. */
  port?: number;
}

/** What a server is going to be. */
export interface Plan extends Options {
  port: number;
  /** Member of an ensemble: its number. */
  id?: number;
}

/** What a server says about itself; null: not serving. */
export type Mode =
  | "standalone"
  | "leader"
  | "follower"
  | "observer"
  | "read-only";

/** The server has not become ready; the message ends with the end of its log. */
export class StartError extends Error {
  override name = "StartError";
  /** The reason is that somebody else has the port. */
  readonly isPortTaken: boolean;

  constructor(message: string, log: string) {
    super(`${message}; its log ends:\n${log}`);
    this.isPortTaken = /BindException|Address already in use/.test(log);
  }
}

/**
 * Sends a four-letter word and resolves with the answer. Rejects if nothing
 * listens, or there is no whole answer within `timeout` ms.
 */
export function askFourLetter(
  host: string,
  port: number,
  word: string,
  timeout = 5_000,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const where = `${word} to ${host}:${port}`;
  let answer = "";
  const socket = connect({ host, port });
  const timer = setTimeout(
    () =>
      socket.destroy(new Error(`Send ${where}: no answer in ${timeout} ms`)),
    timeout,
  );
  socket.setEncoding("utf8");
  socket.on("connect", () => socket.write(word));
  socket.on("data", (text: string) => answer += text);
  socket.on("error", (error) => reject(error));
  socket.on("close", () => {
    clearTimeout(timer);
    // After "error" this changes nothing.
    if (answer !== "") resolve(answer);
    else reject(new Error(`Send ${where}: closed without an answer`));
  });
  return promise;
}

/** Starts a server on its own, and resolves when it serves sessions. */
export async function startServer(
  options: ServerOptions = {},
): Promise<RealServer> {
  for (let tries = 1;; tries++) {
    const port = options.port ?? (await freePorts(1))[0];
    const server = await RealServer.prepare({ ...options, port });
    try {
      await server.restart();
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      const isBadLuck = error instanceof StartError && error.isPortTaken &&
        options.port === undefined && tries < 5;
      if (!isBadLuck) throw error;
    }
  }
}

/** A ZooKeeper server in a java process of its own, with its own data folder. */
export class RealServer implements AsyncDisposable {
  readonly version: Version;
  readonly host: string = host;
  readonly port: number;
  #jvm: Jvm;

  private constructor(version: Version, port: number, jvm: Jvm) {
    this.version = version;
    this.port = port;
    this.#jvm = jvm;
  }

  /** Makes the folder and the configuration; nothing runs until restart(). */
  static async prepare(plan: Plan): Promise<RealServer> {
    const { version = "3.8.0", port, id } = plan;
    const found = await install(version);
    const folder = await mkdtemp(join(tmpdir(), "zklock-zookeeper-"));
    const file = join(folder, "zoo.cfg");
    await mkdir(join(folder, "data"));
    await writeFile(file, configuration(folder, plan));
    for (const [name, text] of Object.entries(plan.files ?? {})) {
      await writeFile(join(folder, name), text);
    }
    if (id !== undefined) {
      await writeFile(join(folder, "data", "myid"), `${id}\n`);
    }
    const jvm = new Jvm(folder, [
      found.java,
      ...found.flags,
      "-Dzookeeper.admin.enableServer=false",
      "-Dzookeeper.extendedTypesEnabled=true",
      // Tests of container znodes wait for one of these checks.
      "-Dznode.container.checkIntervalMs=1000",
      // No fsync: a killed process loses nothing by it, only a killed machine.
      "-Dzookeeper.forceSync=no",
      ...plan.jvm ?? [],
      "-cp",
      [found.classpath, ...plan.jars ?? []].join(delimiter),
      id === undefined ? found.standalone : found.member,
      file,
    ]);
    return new RealServer(version, port, jvm);
  }

  /** A connect string for this server alone. */
  get servers(): string {
    return `${this.host}:${this.port}`;
  }

  /** The id of the java process; null after kill() or stop(). */
  get pid(): number | null {
    return this.#jvm.pid;
  }

  /** The temporary folder with configuration, data and log. */
  get folder(): string {
    return this.#jvm.folder;
  }

  /** Ends it as a crash would, and waits until it is gone. */
  async kill(): Promise<void> {
    await this.#jvm.end("SIGKILL");
  }

  /** Ends it as an administrator would, and waits until it is gone. */
  async stop(): Promise<void> {
    // A frozen one wouldn't hear it.
    this.thaw();
    await this.#jvm.end("SIGTERM");
  }

  /**
   * Starts it, after a kill if it runs, with the same port and data, and resolves
   * when it serves sessions (a member of an ensemble: when that has a quorum).
   */
  async restart(): Promise<void> {
    await this.kill();
    await this.#jvm.start();
    await this.ready();
  }

  /** Stops its clock, and resolves when it stands: it keeps its connections and answers nothing. */
  async freeze(): Promise<void> {
    await this.#jvm.stop();
  }

  /** Lets it run on after freeze(). */
  thaw(): void {
    this.#jvm.signal("SIGCONT");
  }

  /** Sends a four-letter word; see {@link askFourLetter}. */
  fourLetter(word: string, timeout?: number): Promise<string> {
    return askFourLetter(this.host, this.port, word, timeout);
  }

  /** What it says it is; null if it doesn't serve now. */
  async mode(timeout?: number): Promise<Mode | null> {
    const answer = await this.fourLetter("srvr", timeout).catch(() => "");
    return (/^Mode: (\S+)/m.exec(answer)?.[1] ?? null) as Mode | null;
  }

  /** Resolves when it serves sessions. */
  async ready(): Promise<void> {
    const deadline = performance.now() + startTimeout;
    // A word that comes in while 3.8 and 3.9 load their data may get no whole
    // answer, on a connection that is never closed (a NullPointerException in
    // their log): give up soon, but leave more time to a busy machine.
    let patience = 250;
    for (;;) {
      const asked = performance.now();
      if (await this.mode(patience) !== null && await this.#isMine()) return;
      const now = performance.now();
      if (!this.#jvm.isAlive || now > deadline) {
        const reason = this.#jvm.isAlive
          ? `not ready after ${startTimeout} ms`
          : "java has ended";
        throw new StartError(
          `Start ZooKeeper ${this.version} on ${this.servers}: ${reason}`,
          await this.#jvm.log(),
        );
      }
      if (now - asked >= patience) patience = Math.min(2 * patience, 4_000);
      await sleep(10);
    }
  }

  /** Kills it and removes its folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#jvm.dispose();
  }

  /**
   * Whether what answers on the port is this server: another one may have got the
   * port first, while java here has not yet found out that it can't have it.
   */
  async #isMine(): Promise<boolean> {
    const answer = await this.fourLetter("conf").catch(() => "");
    return answer.includes(this.folder);
  }
}

function configuration(folder: string, plan: Plan): string {
  const { version, tickTime = 200, port, config = [] } = plan;
  const lines = [
    `tickTime=${tickTime}`,
    `dataDir=${join(folder, "data")}`,
    `clientPort=${port}`,
    `clientPortAddress=${host}`,
    "maxClientCnxns=0",
    "minSessionTimeout=400",
    "maxSessionTimeout=60000",
  ];
  if (version !== "3.4.13") {
    lines.push("admin.enableServer=false", "4lw.commands.whitelist=*");
  }
  return [...lines, ...config].join("\n") + "\n";
}
