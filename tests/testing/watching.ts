// A copy of the tree that changes by short commands, and watchers that keep what they are told.
// No server and no connections.
// Used by the tests of watch tables.

import { modes, type Watcher } from "../../testing/watch_tables.ts";
import { Replica } from "../../testing/ledger.ts";
import { profiles, type ServerVersion } from "../../testing/profiles.ts";
import type { Identity } from "../../testing/rights.ts";
import { type Change, parentOf } from "../../testing/tree.ts";

/** "+/a" creates, "-/a" deletes, "=/a" sets data, "!/a" lets nobody read any more. */
export type Step = string;

/** Keeps what it is told, as "created /a". */
export class Ear implements Watcher {
  readonly identities: Identity[];
  readonly zxids: bigint[] = [];
  #heard: string[] = [];

  constructor(...identities: Identity[]) {
    this.identities = identities;
  }

  event(type: string, path: string, zxid: bigint): void {
    this.#heard.push(`${type} ${path}`);
    this.zxids.push(zxid);
  }

  /** What it was told since it was asked last. */
  heard(): string[] {
    return this.#heard.splice(0);
  }
}

/** A tree with watches; the nth step is transaction n. */
export class Watched {
  readonly replica: Replica;
  #zxid = 0n;

  constructor(version: ServerVersion = "3.9", ...steps: Step[]) {
    this.replica = new Replica(profiles[version]);
    this.do(...steps);
  }

  get tables(): Replica["watches"] {
    return this.replica.watches;
  }

  do(...steps: Step[]): void {
    for (const step of steps) this.together(step);
  }

  /** One transaction. */
  together(...steps: Step[]): void {
    const zxid = ++this.#zxid;
    const changes = steps.map((step) => this.#change(step));
    this.replica.apply({ zxid, time: 1, changes });
  }

  /** A watch: "data", "child", "persistent" or "recursive". */
  watch(ear: Ear, kind: string, path: string): void {
    const { tables } = this;
    if (kind === "data") tables.data.add(path, ear, modes.standard);
    else if (kind === "child") tables.child.add(path, ear, modes.standard);
    else tables.addPersistent(path, ear, kind === "recursive");
  }

  #change(step: Step): Change {
    const path = step.slice(1);
    const read = [{ perms: 31, scheme: "world", id: "anyone" }];
    const write = [{ perms: 30, scheme: "world", id: "anyone" }];
    switch (step[0]) {
      case "+": {
        const parent = this.replica.tree.get(parentOf(path));
        const creates = (parent?.creates ?? 0) + 1;
        const rest = {
          kind: "persistent",
          owner: 0n,
          ttl: 0,
          creates,
        } as const;
        return { type: "create", path, data: null, acl: read, ...rest };
      }
      case "-":
        return { type: "delete", path };
      case "=":
        return { type: "set-data", path, data: null };
      default:
        return { type: "set-acl", path, acl: write };
    }
  }
}
