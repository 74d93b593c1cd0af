// Projects of users: folders outside of the repository, with nothing in them but what a test puts there.
// Must not know what a project does with the library, but for the program that most of them run.
// Called by the tests of this folder.

import { assertEquals, assertMatch } from "@std/assert";
import { execFile } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { TestServer } from "../../testing/mod.ts";

/** The root of the repository. */
export const library: string = fileURLToPath(
  new URL("../../", import.meta.url),
);

/** What became of a process. */
export interface Run {
  code: number;
  output: string;
  errors: string;
}

/** A project, gone when `use` is done. */
export async function inProject<T>(
  files: Readonly<Record<string, string>>,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "zklock-project-"));
  try {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), text);
    }
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A folder for what several tests of a file use. Goes with this process. */
export async function keptFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "zklock-kept-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  globalThis.addEventListener("unload", remove);
  return folder;
}

/** Runs a program in a project, with caches of its own: there, or elsewhere. */
export function execute(
  folder: string,
  [program, ...words]: readonly string[],
  caches: string = folder,
): Promise<Run> {
  const { PATH, HOME } = process.env;
  const env = {
    PATH,
    HOME,
    NO_COLOR: "1",
    DENO_DIR: join(caches, ".deno"),
    BUN_INSTALL_CACHE_DIR: join(caches, ".bun"),
  };
  const options = { cwd: folder, env, timeout: 60_000 };
  return new Promise((resolve) =>
    execFile(program, words, options, (error, output, errors) => {
      const code = error === null ? 0 : Number(error.code ?? -1);
      resolve({ code, output, errors });
    })
  );
}

/** The same, where nothing but success will do. */
export async function succeed(
  folder: string,
  words: readonly string[],
): Promise<string> {
  const { code, output, errors } = await execute(folder, words);
  assertEquals(code, 0, `${words.join(" ")}:\n${output}\n${errors}`);
  return output;
}

/** Runs a program in the repository, and leaves nothing there. */
export function executeHere(words: readonly string[]): Promise<Run> {
  return inProject({}, (caches) => execute(library, words, caches));
}

/** How Bun is called: by its name where it is installed. */
export function bun(): string[] {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const isThere = folders.some((folder) => existsSync(join(folder, "bun")));
  return isThere ? ["bun"] : ["npx", "-y", "bun@1.4.4"];
}

/** The body of a program that has connect() and SequentialLock: takes a lock and prints the token. */
export const takeAndRelease = (servers: string): string =>
  `const zk = await connect(${JSON.stringify(servers)});
const held = await new SequentialLock(zk, "/locks/way-in").acquire();
console.log(\`token \${held.token}\`);
console.log(\`released \${await held.release()}\`);
await zk.close();
`;

/**
 * Gives a program the address of a server; asserts that it took a lock there,
 * released it and left nothing. `run` answers with what the program printed.
 */
export async function assertTakesLock(
  run: (servers: string) => Promise<string>,
): Promise<void> {
  await using server = await TestServer.start();

  const output = await run(server.servers);

  assertMatch(output, /^token \d+\nreleased true\n/);
  assertEquals(server.sessions, []);
}

/** The sources, as plain text, as a code hosting site would serve them. */
export interface Site {
  url: string;
  /** Paths that were asked for. */
  asked: string[];
  close(): Promise<void>;
}

/** Serves the repository. */
export function serve(): Promise<Site> {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url!, "http://localhost");
    asked.push(pathname);
    try {
      const text = await readFile(join(library, pathname));
      response.setHeader("content-type", "text/plain; charset=utf-8");
      response.end(text);
    } catch {
      response.writeHead(404).end();
    }
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      const close = () =>
        new Promise<void>((done) => {
          server.close(() => done());
          server.closeAllConnections();
        });
      resolve({ url: `http://127.0.0.1:${port}`, asked, close });
    });
  });
}
