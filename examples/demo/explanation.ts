// The table in words: why N against 1.
// Pure.
// Used by show.ts.

import type { Findings } from "./experiment.ts";
import type { Options } from "./options.ts";
import { handOvers } from "./table.ts";
import { sum } from "./traffic.ts";

/** In a shorter hold, in ms, the herd may still be asking when the next release comes. */
const shortHold = 20;

/** What the numbers mean, as lines of at most 80 columns. */
export function explanation(
  exclusive: Findings,
  sequential: Findings,
  { sharedSession, hold }: Pick<Options, "sharedSession" | "hold">,
): string[] {
  const [herd] = handOvers(exclusive);
  const [single] = handOvers(sequential);
  const { heartbeats } = sum([...exclusive.phases, ...sequential.phases]);
  const first = `notifications ${herd.notifications} against ` +
    `${single.notifications}, requests ${herd.requests} against ` +
    `${single.requests}.`;
  return [
    ...(heartbeats > 0 ? [`  not counted: ${heartbeats} heartbeats`] : []),
    ...(hold < shortHold
      ? ["  so short a hold: late requests are counted with the next hand-over"]
      : []),
    "",
    ...(sharedSession
      ? [
        "ExclusiveLock: all who wait watch one znode. Here they share a session, and the",
        "server keeps one watch per session and znode, so it notifies once. Then all who",
        "wait ask again, and one gets it: the herd effect. At the first hand-over:",
        first,
      ]
      : [
        "ExclusiveLock: all who wait watch one znode, so a release notifies every one of",
        "them. Then all ask again, and one gets it: the herd effect. At the first",
        `hand-over: ${first}`,
      ]),
    "A try that fails is still a write for the servers: see the gaps in its tokens.",
    "",
    "SequentialLock: each who waits watches only the one ahead, so a release wakes",
    "one, however many wait.",
    "",
    sharedSession
      ? "Without --shared-session each has its own, and the herd shows in both columns."
      : "With --shared-session the server merges watches; the herd shows in requests.",
  ];
}
