// Makes things go wrong: each kind of fault, done to machines, members and the tree.
// Knows how, not when or why.
// Used by simulate.ts.

import * as ops from "../../protocol/operations.ts";
import type { Ensemble } from "./ensemble.ts";
import type { Machine } from "./machine.ts";
import type { Member } from "./member.ts";
import type { Oracles } from "./oracles.ts";
import type { Fault, FaultKind, Scenario } from "./scenario.ts";
import type { World } from "./world.ts";

/** What can be hit. */
export interface Scene {
  world: World;
  scenario: Scenario;
  ensemble: Ensemble;
  machines: readonly Machine[];
  oracles: Oracles;
  /** The lock's path. */
  path: string;
}

/** Does it. */
export function strike(fault: Fault, scene: Scene): void {
  const { world, machines, ensemble } = scene;
  const machine = machines[fault.victim % machines.length];
  const member = ensemble.members[fault.victim % ensemble.members.length];
  world.note(
    `fault: ${fault.kind} (${machine.name}, ${member.name}) ${fault.duration}`,
  );
  strikes[fault.kind](fault, scene, machine, member);
}

/** Everything is fine again. */
export function heal({ machines, ensemble, world }: Scene): void {
  world.note("heal");
  ensemble.onWrite = () => undefined;
  for (const machine of machines) {
    machine.hiccups.chance = 0;
    machine.clear();
  }
  for (const member of ensemble.members) {
    ensemble.heal(member);
    ensemble.restart(member);
  }
}

type Strike = (
  fault: Fault,
  scene: Scene,
  machine: Machine,
  member: Member,
) => void;

/** Bad weather for a while; the connections it hit are over when it is. */
function badly(change: (machine: Machine, on: boolean) => void): Strike {
  return ({ duration }, { world }, machine) => {
    change(machine, true);
    world.after(duration, () => {
      change(machine, false);
      machine.clear();
    });
  };
}

const strikes: Record<FaultKind, Strike> = {
  "cut": (_, __, machine) => machine.cut(),
  "black hole": badly(({ weather }, on) => {
    const all = { losesUp: on, losesDown: on, hangs: on, keeps: false };
    Object.assign(weather, all);
  }),
  // What comes back late does no harm; what goes out late would break the promise's terms.
  "deaf": ({ luck, ...fault }, ...rest) => {
    rest[1].weather.keeps = luck < 0.5;
    badly(({ weather }, on) => void (weather.losesDown = on))(
      { luck, ...fault },
      ...rest,
    );
  },
  "mute": badly(({ weather }, on) => {
    Object.assign(weather, { losesUp: on, keeps: false });
  }),
  "refused": badly((machine, on) => {
    machine.weather.refuses = on;
    machine.cut();
  }),
  "unanswered": badly((machine, on) => {
    machine.weather.hangs = on;
    if (on) machine.cut();
  }),
  "slow": badly((machine, on) => {
    const most = machine.weather.delay[1];
    machine.weather.delay = [on ? most * 0.8 : 0.1, most];
  }),
  "stall": ({ duration }, _, machine) => machine.stand(duration),
  "sleep": ({ duration }, _, machine) => machine.sleep(duration),
  "wall clock": ({ luck }, _, machine) =>
    machine.setWall((luck - 0.3) * 60_000),
  "member killed": ({ duration }, { world, ensemble }, _, member) => {
    ensemble.kill(member);
    world.after(duration, () => ensemble.restart(member));
  },
  "leader killed": ({ duration }, { world, ensemble }) => {
    const { leader } = ensemble;
    if (leader === null) return;
    ensemble.kill(leader);
    world.after(duration, () => ensemble.restart(leader));
  },
  "member cut off": ({ duration }, { world, ensemble }, _, member) => {
    ensemble.cut(member);
    world.after(duration, () => ensemble.heal(member));
  },
  "throttled": ({ duration }, { world, ensemble }) => {
    const random = world.random("throttle");
    ensemble.onWrite = () => random.chance(0.3) ? -127 : undefined;
    world.after(duration, () => ensemble.onWrite = () => undefined);
  },
  "set data": (fault, scene) => {
    const path = contender(fault, scene);
    if (path === undefined) return;
    const request = { path, data: null, version: -1 };
    scene.ensemble.operate([{ code: ops.setData.code, request }]);
  },
  "foreign child": ({ luck }, { ensemble, path }) => {
    const names = ["notes", "notes-12", "lock-x", "_c_-lock-", "n-12345"];
    const name = names[Math.floor(luck * names.length)];
    const request = {
      path: `${path}/${name}`,
      data: null,
      acl: open,
      flags: 0,
    };
    ensemble.operate([{ code: ops.create.code, request }]);
  },
  "delete contender": (fault, scene) => {
    const path = contender(fault, scene);
    if (path === undefined) return;
    scene.oracles.administered(scene.ensemble.head.tree.get(path)!);
    const request = { path, version: -1 };
    scene.ensemble.operate([{ code: ops.remove.code, request }]);
  },
  "end session": ({ luck }, { ensemble, oracles }) => {
    const { sessions } = ensemble;
    if (ensemble.leader === null || sessions.length === 0) return;
    const { id } = sessions[Math.floor(luck * sessions.length)];
    const { tree } = ensemble.head;
    for (const path of tree.ephemeralsOf(id)) {
      oracles.administered(tree.get(path)!);
    }
    ensemble.close(id);
  },
};

const open = [{ perms: 31, scheme: "world", id: "anyone" }];

function contender({ luck }: Fault, { ensemble }: Scene): string | undefined {
  const { tree } = ensemble.head;
  const paths = tree.owners().flatMap((id) => tree.ephemeralsOf(id));
  return paths[Math.floor(luck * paths.length)];
}
