// An edge worker that takes a lock within one request: connects, locks, works, releases, answers.
// Keeps nothing between requests: a connection belongs to the request that opened it.
// For wrangler or miniflare; docs/workers.md tells how to run it.

import { connect, type HeldLock, SequentialLock } from "@zklock/zklock";

/** Bound by the configuration. */
interface Bindings {
  /** Connect string, e.g. "zk1:2181,zk2:2181,zk3:2181/shop". */
  ZOOKEEPER: string;
}

export default {
  async fetch(_request: Request, bindings: Bindings): Promise<Response> {
    try {
      const order = await nextOrder(bindings.ZOOKEEPER);
      return Response.json(order);
    } catch (error) {
      const { name, message } = error as Error;
      return Response.json({ name, message }, { status: 503 });
    }
  },
};

/** Counts an order, one at a time. */
async function nextOrder(
  servers: string,
): Promise<{ order: number; token: string }> {
  const zk = await connect(servers, {
    sessionTimeout: 10_000,
    connectTimeout: 5_000,
  });
  try {
    await zk.ensurePath("/orders");
    const lock = new SequentialLock(zk, "/locks/orders");
    const work = async (held: HeldLock) => {
      const { data } = await zk.getData("/orders");
      const order = Number(new TextDecoder().decode(data ?? undefined)) + 1;
      // Clocks stand still in a worker while it works: the server has to check
      // that the lock is still ours.
      await held.guard([{ op: "setData", path: "/orders", data: `${order}` }]);
      return { order, token: `${held.token}` };
    };
    return await lock.run(work, { timeout: 20_000 });
  } finally {
    // Ends the session: nothing is left behind.
    await zk.close();
  }
}
