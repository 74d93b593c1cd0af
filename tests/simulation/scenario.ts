// What a seed stands for: who takes part, on what machines, and what goes wrong when.
// Data only, so that parts can be left out; nothing happens here.
// Read by simulate.ts, cut down by shrink.ts.

import { Random } from "../../testing/random.ts";

/** Something that goes wrong. Times in ms. */
export interface Fault {
  at: number;
  kind: FaultKind;
  /** A number from which whoever it hits is picked. */
  victim: number;
  /** How long it lasts, if it lasts. */
  duration: number;
  /** Drawn for whatever is left open. */
  luck: number;
}

/** Kinds of fault; how often each is drawn, in relation. */
export const faultKinds = {
  "cut": 3,
  "black hole": 2,
  "deaf": 2,
  "mute": 2,
  "refused": 1,
  "unanswered": 1,
  "slow": 1,
  "stall": 3,
  "sleep": 1,
  "wall clock": 1,
  "member killed": 3,
  "leader killed": 1,
  "member cut off": 3,
  "throttled": 1,
  "set data": 1,
  "foreign child": 1,
  "delete contender": 1,
  "end session": 1,
} as const;

/** A kind of fault. */
export type FaultKind = keyof typeof faultKinds;

/** One client. */
export interface ClientPlan {
  name: string;
  /** Contenders on this client, all on the same lock. */
  contenders: number;
  /** Its clock runs so much faster. */
  rate: number;
  /** Chance that the process stands still between two statements, and for how long at most, in ms. */
  hiccups: { chance: number; most: number };
  /** It was told the ensemble's tick. */
  knowsTick: boolean;
  /** Number of the only server it knows; all if undefined. */
  only?: number;
  crumbles: boolean;
  /** Follows Curator's rules instead of ours. */
  isStranger: boolean;
  /** Asks before it has a session. */
  isEager?: boolean;
}

/** One run. Times in ms. */
export interface Scenario {
  seed: number;
  lock: "sequential" | "exclusive";
  servers: number;
  /** Session timeout. */
  timeout: number;
  tick: number;
  syncLimit: number;
  isStrict: boolean;
  /** Delay of one way, between a client and a server, and between two servers. */
  delay: [least: number, most: number];
  /** What the number of the first contender is; 0 but for queues that are nearly used up. */
  counter: number;
  /** How long contenders stay away between two rounds, at most. */
  pause: number;
  /** What happens before everything is healed. */
  duration: number;
  clients: ClientPlan[];
  faults: Fault[];
}

/** The scenario of a seed. */
export function scenarioOf(seed: number): Scenario {
  const random = new Random(seed, "scenario");
  const timeout = random.pick([1_000, 4_000, 12_000]);
  const tick = timeout / random.pick([2, 4, 20]);
  const servers = random.chance(0.3) ? 1 : 3;
  // The promise holds for delays of up to T/40, at least 25 ms.
  const most = random.chance(0.5) ? 3 : Math.max(25, timeout / 40) * 0.95;
  const duration = 30_000 + 2 * timeout;
  const isQuiet = random.chance(0.1);
  return {
    seed,
    lock: random.chance(0.5) ? "sequential" : "exclusive",
    servers,
    timeout,
    tick,
    syncLimit: Math.ceil(random.between(4, 12) * timeout / 4 / tick),
    isStrict: random.chance(0.5),
    delay: [0.1, most],
    counter: random.chance(0.04) ? 2 ** 31 - random.between(2, 30) : 0,
    pause: random.pick([400, 400, 400, 6_000]),
    duration,
    clients: clientsOf(seed, servers, timeout),
    faults: isQuiet
      ? []
      : faultsOf(new Random(seed, "faults"), duration, timeout),
  };
}

function clientsOf(
  seed: number,
  servers: number,
  timeout: number,
): ClientPlan[] {
  const random = new Random(seed, "clients");
  const haste = new Random(seed, "haste");
  return Array.from({ length: random.between(2, 4) }, (_, i) => {
    const isHalting = random.chance(0.4);
    const most = timeout * (random.chance(0.3) ? 0.75 : 0.05);
    const only = random.chance(0.3)
      ? random.between(0, servers - 1)
      : undefined;
    return {
      name: `c${i}`,
      contenders: random.between(1, 3),
      rate: 0.99 + random.fraction() * 0.02,
      hiccups: { chance: isHalting ? 0.003 : 0, most },
      knowsTick: random.chance(0.3),
      only,
      crumbles: random.chance(0.2),
      isStranger: i > 1 && random.chance(0.3),
      isEager: haste.chance(0.3),
    };
  });
}

function faultsOf(random: Random, duration: number, timeout: number): Fault[] {
  const isAdministered = random.chance(0.4);
  const administration: FaultKind[] = ["delete contender", "end session"];
  const hat = Object.entries(faultKinds).flatMap(([kind, weight]) => {
    const isLeftOut = !isAdministered &&
      administration.includes(kind as FaultKind);
    return Array<FaultKind>(isLeftOut ? 0 : weight).fill(kind as FaultKind);
  });
  const pace = random.pick([500, 1_500, 4_000]);
  const faults: Fault[] = [];
  for (let at = random.between(200, 2 * pace); at < duration;) {
    faults.push({
      at,
      kind: random.pick(hat),
      victim: random.bits(),
      duration: random.chance(0.5)
        ? random.between(10, 1_500)
        : random.between(500, 2 * timeout),
      luck: random.fraction(),
    });
    at += random.between(50, 2 * pace);
  }
  return faults;
}
