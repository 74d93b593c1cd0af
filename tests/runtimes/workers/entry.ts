// A worker that runs the suites: one test in one request, as a worker's client lives in one request.
// Knows no runner.
// Bundled and started by ../workers.ts.

import { collect } from "./collect.ts";
import { describe } from "@std/testing/bdd";
import { abortSuite } from "../../faults/abort_suite.ts";
import { administratorSuite } from "../../faults/administrator_suite.ts";
import { lostRepliesSuite } from "../../faults/lost_replies_suite.ts";
import { packetsSuite } from "../../faults/packets_suite.ts";
import { partitionSuite } from "../../faults/partition_suite.ts";
import { patienceSuite } from "../../suites/client_suite_away.ts";
import { hostsSuite } from "../../suites/client_suite_hosts.ts";
import { everySuite } from "../../suites/every_suite.ts";
import { restartSuite } from "../../suites/restart_suite.ts";
import type { Embedded } from "../../targets.ts";
import { switchboard } from "./net.ts";
import {
  type Description,
  openTarget,
  type Part,
  startMortal,
  type Target,
} from "./targets.ts";

/** What the runner binds. */
interface Bindings {
  SWITCHBOARD: number;
  CONTROL: { fetch(url: string, init: RequestInit): Promise<Response> };
}

/** What the runner asks for. */
interface Request {
  target: Description;
  part: Part;
  /** Which test; absent: the names of all. */
  test?: number;
}

const rejections: unknown[] = [];
addEventListener("unhandledrejection", (event) => {
  rejections.push((event as PromiseRejectionEvent).reason);
});

const parts: Record<Part, (target: Target) => void> = {
  all: everySuite,
  hosts: named((target) => {
    hostsSuite(target);
    patienceSuite(target);
    restartSuite(startMortal);
  }),
  faults: named((target) => {
    abortSuite(target);
    administratorSuite(target);
    lostRepliesSuite(target);
    packetsSuite(target);
    partitionSuite(target);
  }),
};

function named(suites: (target: Target) => void): (target: Target) => void {
  return (target) => describe(target.name, () => suites(target));
}

/** The embedded server in the runner's process. */
function remote(control: Bindings["CONTROL"]): Embedded {
  const ask = async (setCounter?: [string, number]): Promise<bigint[]> => {
    const body = JSON.stringify({ setCounter });
    const init = { method: "POST", body };
    const reply = await control.fetch("http://runner/", init);
    return (await reply.json() as string[]).map(BigInt);
  };
  return {
    setCounter: async (path, next) => void await ask([path, next]),
    get sessions() {
      return ask();
    },
  };
}

async function answer(
  { target: description, part, test }: Request,
  { SWITCHBOARD, CONTROL }: Bindings,
): Promise<unknown> {
  switchboard.port = SWITCHBOARD;
  const { target, close } = await openTarget(description, remote(CONTROL));
  try {
    const tests = collect(() => parts[part](target));
    if (test === undefined) return tests.map(({ name }) => name);
    const before = rejections.length;
    await tests[test].run();
    return { rejections: rejections.slice(before).map(String) };
  } catch (error) {
    return { error: (error as Error)?.stack ?? `${error}` };
  } finally {
    await close();
  }
}

export default {
  async fetch(
    request: { json(): Promise<Request> },
    bindings: Bindings,
  ): Promise<Response> {
    return Response.json(await answer(await request.json(), bindings));
  },
};
