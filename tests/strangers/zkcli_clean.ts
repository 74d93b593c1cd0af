// Takes out of the shell's output what differs from run to run: times, transaction numbers, sessions, addresses.
// Must not take out what a server decides.
// Called by zkcli.ts.

/** Lines that can be compared; watch events, which come when they like, are at the end. */
export function clean(text: string, root: string, address: string): string[] {
  const lines: string[] = [];
  const events: string[] = [];
  for (const raw of text.split("\n")) {
    const line = raw.trimEnd().replaceAll(root, "ROOT")
      .replaceAll(address, "SERVER");
    if (line === "" || line === "WATCHER::" || isNoise(line)) continue;
    if (line.startsWith("WatchedEvent ")) events.push(line);
    else lines.push(line);
  }
  const all = [...inOrder(lines), "> (watch events)", ...events];
  return ranked(all.map(withoutTimes));
}

/** With what a real server says in any order, as it keeps it in hash tables, in one order. */
function inOrder(lines: readonly string[]): string[] {
  const all: string[] = [];
  let identities: string[] = [];
  for (const line of [...lines, ""]) {
    if (/^(ip|digest): /.test(line)) {
      identities.push(line);
      continue;
    }
    all.push(...identities.sort(), line);
    identities = [];
  }
  // The shell itself sorts children, but not ephemeral znodes.
  return all.slice(0, -1).map((line) =>
    line.replace(
      /^\[(.*)\]$/,
      (_, list: string) => `[${list.split(", ").sort().join(", ")}]`,
    )
  );
}

/** What the shell says of itself, whatever the server. */
function isNoise(line: string): boolean {
  return /^(SLF4J: |log4j:|JLine support is |Welcome to ZooKeeper)/.test(line);
}

function withoutTimes(line: string): string {
  return line
    // Those of znodes that a server is born with are worth a look: they are 0.
    .replace(/^([cm]time = )(?!.* 1970$).*/, "$1(time)")
    // A session's; that of container and TTL znodes is shown as 0.
    .replace(/^(ephemeralOwner = )0x(?!0$).*/, "$1(session)");
}

/** Transaction numbers by their rank among all there are: what is equal stays so, and what is later. */
function ranked(lines: readonly string[]): string[] {
  const pattern = /^([cmp]Zxid = )0x([0-9a-f]+)$/;
  const numbers = lines.flatMap((line) => {
    const number = pattern.exec(line)?.[2];
    return number === undefined ? [] : [BigInt(`0x${number}`)];
  });
  const order = [...new Set(numbers)].sort((a, b) => a < b ? -1 : 1);
  return lines.map((line) =>
    line.replace(
      pattern,
      (_, name, number) => `${name}#${order.indexOf(BigInt(`0x${number}`))}`,
    )
  );
}
