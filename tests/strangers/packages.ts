// Brings Debian packages of other people's clients onto this machine, with its own apt.
// Must not know what is done with them, nor any archive: apt's own configuration does.
// Called by kazoo.ts, curator.ts and zkcli.ts.

import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { run } from "../real/debian.ts";
import { InstallError } from "../real/install.ts";

// One process at a time, the next one finds it done (see installJava() in
// ../real/install.ts, which holds the same lock).
const script = `
has() { dpkg-query -W -f '\${Status}\\n' "$1" 2>/dev/null | grep -q ' installed$'; }
for name; do has "$name" || missing="$missing $name"; done
[ -z "$missing" ] || {
  apt-get update &&
  apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 $missing
}`;

/** The versions of Debian packages, by name; rejects if one is not installed. */
async function versionsOf(
  packages: readonly string[],
): Promise<Record<string, string>> {
  const format = "${Package} ${Version} ${Status}\\n";
  const text = await run("dpkg-query", ["-W", "-f", format, ...packages]);
  const found: Record<string, string> = {};
  for (const line of text.trim().split("\n")) {
    const [name, version, ...status] = line.split(" ");
    if (status.at(-1) === "installed") found[name] = version;
  }
  const missing = packages.filter((name) => !(name in found));
  if (missing.length > 0) {
    throw new Error(`Find ${missing.join(", ")}: not installed`);
  }
  return found;
}

/** Resolves with the versions of `packages`, which it installs where it has to (and is root). */
export async function installPackages(
  packages: readonly string[],
): Promise<Record<string, string>> {
  const here = await versionsOf(packages).catch(() => null);
  if (here !== null) return here;
  const advice = `apt-get install ${packages.join(" ")}`;
  if (process.getuid?.() !== 0) {
    throw new InstallError(`Install packages: not root; do ${advice}`);
  }
  const deadline = performance.now() + 300_000;
  for (;;) {
    try {
      const args = ["/var/cache/apt", "sh", "-c", script, "sh", ...packages];
      await run("flock", args);
      return await versionsOf(packages);
    } catch (cause) {
      const { message } = cause as Error;
      // Somebody else's apt is at work: `update` doesn't wait for it.
      const isBusy = /could not get lock|unable to lock/i.test(message);
      if (!isBusy || performance.now() > deadline) {
        throw new InstallError(`Install packages: ${message}; ${advice}`, {
          cause,
        });
      }
      await sleep(1_000);
    }
  }
}
