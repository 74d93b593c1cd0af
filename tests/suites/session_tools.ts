// What tests of lost servers share: clients, and a watch of each kind.
// Knows no server.
// Used by restart_suite.ts and by tests/real/session_test.ts.

import { type Client, connect } from "../../protocol/mod.ts";
import { Ear } from "./tools.ts";

/** Runs with clients that are closed afterwards, whatever happens. */
export async function withClients(
  use: (open: typeof connect) => Promise<void>,
): Promise<void> {
  const clients: Client[] = [];
  try {
    await use(async (servers, options) => {
      const client = await connect(servers, options);
      clients.push(client);
      return client;
    });
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}

export async function newRoot(zk: Client): Promise<string> {
  return (await zk.create(`/zklock-${crypto.randomUUID()}`)).path;
}

/** One watch of each kind, and what they hear when all that can happen does. */
export async function watchAll(zk: Client, root: string): Promise<Ear> {
  const ear = new Ear(root);
  const one = new Ear(root);
  await zk.create(`${root}/data`);
  await zk.create(`${root}/parent`);
  await zk.create(`${root}/tree`);
  await zk.getData(`${root}/data`, ear);
  await zk.exists(`${root}/new`, ear);
  await zk.getChildren(`${root}/parent`, ear);
  await zk.addWatch(`${root}/tree`, ear.watch, {
    mode: "persistent-recursive",
  });
  await zk.addWatch(`${root}/parent`, one.watch);
  return ear;
}

export async function changeAll(zk: Client, root: string): Promise<void> {
  await zk.setData(`${root}/data`, "x");
  await zk.create(`${root}/new`);
  await zk.create(`${root}/parent/a`);
  await zk.create(`${root}/tree/a/b`, "", { parents: true });
}

export const all = [
  "children-changed /parent",
  "created /new",
  "created /tree/a",
  "created /tree/a/b",
  "data-changed /data",
];
