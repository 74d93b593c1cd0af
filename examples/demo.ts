// The seeds' experiment: `deno task demo`. Contenders take one resource in turn, and what it costs is counted.
// Knows no lock and no packet: the parts in demo/ do.
// For people who want to see the locks work; --help tells the options.

import process from "node:process";
import { helpText, readOptions, UsageError } from "./demo/options.ts";
import { show } from "./demo/show.ts";

const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };
/** One Ctrl-C may come twice: from the terminal, and from deno task. In ms. */
const echo = 1_000;

async function main(args: readonly string[]): Promise<number> {
  const stop = new AbortController();
  const print = (line: string) => console.log(line);
  let interrupted: number | undefined;
  let since = 0;
  for (const [name, code] of Object.entries(exitCodes)) {
    process.on(name, () => {
      const now = performance.now();
      if (interrupted !== undefined) {
        // Asked twice: now.
        if (now - since > echo) process.exit(code);
        return;
      }
      interrupted = code;
      since = now;
      stop.abort(new Error("interrupted"));
    });
  }
  try {
    const options = readOptions(args);
    if (options === "help") {
      print(helpText);
      return 0;
    }
    return await show(options, print, stop.signal) ? 0 : 1;
  } catch (error) {
    if (interrupted !== undefined) return interrupted;
    const { message } = error as Error;
    console.error(`demo: ${message.replaceAll(/\s*\n\s*/g, " ")}`);
    return error instanceof UsageError ? 2 : 1;
  }
}

process.exit(await main(process.argv.slice(2)));
