// ZooKeeper's own shell on a server that is already there: what it answers to each line of a script.
// Must not know which server it is, nor what it should answer.
// Called by columns.ts; zkcli_script.ts has the lines.

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { start } from "./child.ts";
import { installPackages } from "./packages.ts";
import { clean } from "./zkcli_clean.ts";
import { script } from "./zkcli_script.ts";

const shell = "/usr/share/zookeeper/bin/zkCli.sh";
// What that runs; its package would bring a desktop's java with it.
const same = [
  "java",
  "-cp",
  "/usr/share/java/zookeeper.jar",
  "org.apache.zookeeper.ZooKeeperMain",
];

/** A command of the shell that says the same on every server, and asks none. */
const marker = "printwatches";
const answer = "printwatches is on\n";

/** For the whole script; it takes 2 s. */
const timeout = 60_000;

/** Installs what it needs; resolves with its version. */
export async function installZkCli(): Promise<string> {
  const name = "libzookeeper-java";
  return `zkCli ${(await installPackages([name]))[name]}`;
}

/**
 * Runs the script on the server at `address` ("host:port"); resolves with lines
 * that can be compared with another server's. They go like this:
 * the command after "> ", what it printed, and at the end all watch events.
 */
export async function runZkCli(address: string): Promise<string[]> {
  await installZkCli();
  const root = `/zklock-zkcli-${randomUUID()}`;
  const options = ["-server", address, "-timeout", "15000"];
  const child = start(
    [
      // Errors in their place among the answers.
      ...["sh", "-c", 'exec "$@" 2>&1', "sh"],
      ...(existsSync(shell) ? [shell] : same),
      ...options,
      "-waitforconnection",
    ],
    timeout,
    { CLIENT_JVMFLAGS: "-XX:TieredStopAtLevel=1", JVMFLAGS: "" },
  );
  const said: string[] = [];
  let rest = "";
  let heard = () => {};
  child.process.stdout!.on("data", (text: string) => {
    rest += text;
    heard();
  });
  let hasEnded = false;
  child.process.on("close", () => {
    hasEnded = true;
    heard();
  });
  const next = async (): Promise<string> => {
    while (!rest.includes(answer)) {
      if (hasEnded) return "(the shell has ended)\n" + rest;
      const { promise, resolve } = Promise.withResolvers<void>();
      heard = resolve;
      await promise;
    }
    const end = rest.indexOf(answer);
    const text = rest.slice(0, end);
    rest = rest.slice(end + answer.length);
    return text;
  };
  // One after the other: then it is plain which line an answer belongs to.
  for (const line of ["", ...script]) {
    const command = line.replaceAll("ROOT", root)
      .replaceAll("SERVER", address);
    child.process.stdin!.write(`${command}\n${marker}\n`);
    said.push(`> ${line}\n${await next()}`);
    if (hasEnded) break;
  }
  child.process.stdin!.end("quit\n");
  const { late } = await child.ended;
  if (late) said.push("(the shell took too long)");
  return clean(said.join("\n"), root, address);
}
