// Benches whose session has watches already.
// Knows what leaves a watch, not what becomes of it.
// Used by the tests of SessionMachine that are about watches.

import * as ops from "../../protocol/operations.ts";
import type { Request } from "../../protocol/requests.ts";
import type { Watcher, Watches, WatchKind } from "../../protocol/watches.ts";
import { Bench } from "./bench.ts";
import { statOf } from "./wire.ts";

/** Paths watched, by kind; kinds without one are left out. */
export function listed(watches: Watches): Record<string, string[]> {
  const all: Record<string, string[]> = {};
  for (const lists of watches.lists(1e9)) {
    for (const [kind, paths] of Object.entries(lists)) {
      if (paths.length > 0) all[kind] = [...(all[kind] ?? []), ...paths];
    }
  }
  return all;
}

/** The watch of a request as questions.ts makes it. */
export function watch(
  path: string,
  ...kinds: Array<[err: number, kind: WatchKind]>
): NonNullable<Request["watch"]> {
  const watcher: Watcher = () => {};
  const byError = new Map(kinds);
  return { watcher, path, kind: (err) => byError.get(err) };
}

export const onExists = (path: string) =>
  watch(path, [0, "data"], [-101, "exist"]);
const onChildren = (path: string) => watch(path, [0, "child"]);

/** Connected, with these watches: paths of present and missing znodes, of children, persistent and recursive. */
export function watching(
  paths: {
    present?: string[];
    missing?: string[];
    children?: string[];
    persistent?: string[];
    recursive?: string[];
  },
): Bench {
  const bench = new Bench();
  bench.connect();
  for (const path of paths.present ?? []) {
    bench.ask(ops.exists, { path, watch: true }, { watch: onExists(path) });
  }
  for (const path of paths.missing ?? []) {
    bench.ask(ops.exists, { path, watch: true }, { watch: onExists(path) });
  }
  for (const path of paths.children ?? []) {
    bench.ask(ops.getChildren, { path, watch: true }, {
      watch: onChildren(path),
    });
  }
  for (const path of paths.persistent ?? []) {
    bench.ask(ops.addWatch, { path, mode: 0 }, {
      watch: watch(path, [0, "persistent"]),
    });
  }
  for (const path of paths.recursive ?? []) {
    bench.ask(ops.addWatch, { path, mode: 1 }, {
      watch: watch(path, [0, "persistent-recursive"]),
    });
  }
  for (const sent of bench.turn()) {
    if (sent.op === "getChildren") bench.reply(sent, { children: [] }, 40n);
    else if (sent.op === "addWatch") bench.reply(sent, { err: 0 }, 40n);
    else if (paths.missing?.includes(sent.body.path!)) {
      bench.refuse(sent, -101, 40n);
    } else bench.reply(sent, { stat: statOf() }, 40n);
  }
  return bench;
}
