// Fetches jars out of packages of any Debian release, beside the machine's own.
// Must not know ZooKeeper, nor change anything that belongs to the system's apt.
// Called by install.ts.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import {
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";

/** An archive as the machine's own apt names it. */
export interface Archive {
  uris: string;
  /** The lines that tell apt whom to trust (deb822 form), as found. */
  trust: string;
}

/** Which jars, of which packages, of which Debian release. */
export interface Selection {
  suite: string;
  packages: readonly string[];
  jars: readonly string[];
}

/**
 * Runs a program and resolves with what it printed; rejects with its last words,
 * or those of `name`, the program that one runs.
 */
export async function run(
  file: string,
  args: readonly string[],
  cwd = "/",
  name = file,
): Promise<string> {
  const env = {
    ...process.env,
    DEBIAN_FRONTEND: "noninteractive",
    LC_ALL: "C",
  };
  const options = { env, cwd, timeout: 300_000, maxBuffer: 16 * 1024 * 1024 };
  try {
    return (await promisify(execFile)(file, [...args], options)).stdout;
  } catch (cause) {
    const { stderr, message } = cause as Error & { stderr?: string };
    const lines = (stderr || message).trim().split("\n");
    // apt's first error is the reason; a program without such says it last.
    const line = lines.find((line) => line.startsWith("E:")) ?? lines.at(-1);
    throw new Error(`${name} failed: ${line}`, { cause });
  }
}

/** Brings the selected jars into `folder`, which appears complete or not at all. */
export async function fetchJars(
  selection: Selection,
  folder: string,
): Promise<void> {
  let failure = new Error("no entry for Debian's main archive under /etc/apt");
  for (const archive of await ownArchives()) {
    // Beside the goal, so that the last step is a rename within a file system.
    const scratch = await mkdtemp(join(dirname(folder), "download-"));
    try {
      await download(selection, archive, scratch);
      await moveInPlace(join(scratch, "jars"), folder, selection.jars);
      return;
    } catch (error) {
      failure = error as Error;
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }
  throw failure;
}

/** Whether all `jars` are in `folder`. */
export function hasJars(folder: string, jars: readonly string[]): boolean {
  return jars.every((jar) => existsSync(join(folder, jar)));
}

async function download(
  { suite, packages, jars }: Selection,
  archive: Archive,
  scratch: string,
): Promise<void> {
  const at = (name: string) => join(scratch, name);
  const folders = ["lists/partial", "cache/archives/partial", "parts"];
  for (const name of [...folders, "debs", "root", "jars"]) {
    await mkdir(at(name), { recursive: true });
  }
  await writeFile(
    at("parts/archive.sources"),
    `Types: deb\nURIs: ${archive.uris}\nSuites: ${suite}\nComponents: main\n` +
      archive.trust,
  );
  // As if nothing were installed: with the system's status file a plain package
  // name means the installed version. Without it, it is the suite's newest, so
  // that no version has to be pinned and a point release breaks nothing.
  await writeFile(at("status"), "");
  const apart = [
    "Dir::Etc::sourcelist=/dev/null",
    `Dir::Etc::sourceparts=${at("parts")}`,
    "Dir::Etc::preferences=/dev/null",
    "Dir::Etc::preferencesparts=/dev/null",
    `Dir::State::lists=${at("lists")}`,
    `Dir::State::status=${at("status")}`,
    `Dir::Cache=${at("cache")}`,
    // The user _apt, whom apt would switch to, can't write in here.
    "APT::Sandbox::User=",
    "Acquire::Languages=none",
    "Acquire::Retries=3",
  ].flatMap((option) => ["-o", option]);
  // Any: without it apt-get update exits with 0 when it could fetch nothing.
  await run("apt-get", [...apart, "--error-on=any", "update"]);
  await run("apt-get", [...apart, "download", ...packages], at("debs"));
  for (const deb of await readdir(at("debs"))) {
    await run("dpkg", ["-x", join(at("debs"), deb), at("root")]);
  }
  for (const jar of jars) {
    // Follows the link, so that the name is the same in every release.
    await copyFile(at(`root/usr/share/java/${jar}`), at(`jars/${jar}`));
  }
}

async function moveInPlace(
  from: string,
  to: string,
  jars: readonly string[],
): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    // Another process was faster: its folder is as good as ours.
    if (hasJars(to, jars)) return;
    if (!existsSync(to)) throw error;
    await rm(to, { recursive: true, force: true });
    await rename(from, to);
  }
}

/** The machine's own entries for Debian's main archive, the likeliest first. */
export async function ownArchives(etc = "/etc"): Promise<Archive[]> {
  const release = await readFile(`${etc}/os-release`, "utf8").catch(() => "");
  const codename = /^VERSION_CODENAME="?(\w+)/m.exec(release)?.[1];
  const suites = [codename, "oldstable", "stable", "testing", "unstable"];
  const found: Archive[] = [];
  const parts = `${etc}/apt/sources.list.d`;
  const names = (await readdir(parts).catch(() => [])).sort();
  const files = names.map((name) => `${parts}/${name}`);
  for (const file of [`${etc}/apt/sources.list`, ...files]) {
    const parse = file.endsWith(".sources")
      ? stanzas
      : file.endsWith(".list")
      ? oneLiners
      : () => [];
    for (const entry of parse(await readFile(file, "utf8").catch(() => ""))) {
      if (!entry.components.includes("main")) continue;
      // Its updates and security archives have other suites; some third parties
      // do use the release's name: hence the order below, and more than one try.
      if (entry.suites.some((suite) => suites.includes(suite))) {
        found.push({ uris: entry.uris, trust: entry.trust });
      }
    }
  }
  const likely = ({ uris }: Archive) => /\/debian\/?(\s|$)/.test(uris) ? 0 : 1;
  return found.sort((a, b) => likely(a) - likely(b));
}

interface Entry extends Archive {
  suites: string[];
  components: string[];
}

/** Entries of a deb822 file: paragraphs of `Field: value` lines. */
function stanzas(text: string): Entry[] {
  const lines = text.split("\n").filter((line) => !line.startsWith("#"));
  return lines.join("\n").split(/\n\s*\n/).flatMap((stanza) => {
    const field = (name: string) => {
      const pattern = new RegExp(`^${name}:(.*(?:\n[ \t].*)*)`, "im");
      return pattern.exec(stanza)?.[1].trim();
    };
    const words = (name: string) => (field(name) ?? "").split(/\s+/);
    if (!words("Types").includes("deb") || field("Enabled") === "no") return [];
    const trust = ["Signed-By", "Trusted"].filter(field)
      .map((name) => `${name}: ${field(name)}\n`).join("");
    return [{
      uris: words("URIs").join(" "),
      suites: words("Suites"),
      components: words("Components"),
      trust,
    }];
  });
}

/** Entries of a sources.list: `deb [option=value …] uri suite component …`. */
function oneLiners(text: string): Entry[] {
  return text.split("\n").flatMap((line) => {
    const match = /^\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s+([^#]+)/
      .exec(line);
    if (match === null) return [];
    const [, options = "", uris, suite, components] = match;
    const option = (name: string) =>
      new RegExp(`(?:^|\\s)${name}=(\\S+)`).exec(options)?.[1];
    const signers = option("signed-by")?.replaceAll(",", " ");
    const trust = (signers ? `Signed-By: ${signers}\n` : "") +
      (option("trusted") === "yes" ? "Trusted: yes\n" : "");
    const list = components.trim().split(/\s+/);
    return [{ uris, suites: [suite], components: list, trust }];
  });
}
