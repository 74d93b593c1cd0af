// The examples for edge workers, in workerd: they work, and leave nothing behind.
// Knows them by their answers alone.

import { assert, assertEquals } from "@std/assert";
import { connect } from "../../mod.ts";
import { TestServer } from "../../testing/mod.ts";
import { startServer } from "../real/server.ts";
import { until } from "../suites/tools.ts";
import { sessionsIn } from "./workers.ts";
import {
  bundle,
  startWorker,
  unchecked,
  type Worker,
} from "./workers_tools.ts";

interface Server extends AsyncDisposable {
  servers: string;
  sessions(): Promise<string[]>;
}

const kinds: Record<string, () => Promise<Server>> = {
  "the embedded server": async () => {
    const server = await TestServer.start();
    const sessions = () =>
      Promise.resolve(server.sessions.map((id) => id.toString(16)));
    const end = () => server.close();
    return { servers: server.servers, sessions, [Symbol.asyncDispose]: end };
  },
  "ZooKeeper 3.8.0": async () => {
    const server = await startServer({ version: "3.8.0" });
    const sessions = async () => sessionsIn(await server.fourLetter("dump"));
    const end = () => server[Symbol.asyncDispose]();
    return { servers: server.servers, sessions, [Symbol.asyncDispose]: end };
  },
};

for (const [name, start] of Object.entries(kinds)) {
  unchecked(
    `${name}: examples/worker.ts answers 200 requests in a row and 20 at once, and leaves nothing behind`,
    async () => {
      await using server = await start();
      await using worker = await example("examples/worker.ts", server);
      const ask = () => worker.ask("GET");

      const answers: unknown[] = [];
      for (let i = 0; i < 200; i++) answers.push(await ask());
      const more = await Promise.all(Array.from({ length: 20 }, ask));

      assertEquals(answers.map(orderIn), numbers(1, 200));
      const orders = more.map(orderIn).sort((a, b) => a - b);
      assertEquals(orders, numbers(201, 220));
      assertEquals(await server.sessions(), []);
      assertEquals(await contenders(server, "/locks/orders"), []);
    },
  );

  unchecked(
    `${name}: examples/durable_object.ts keeps one session over its requests, and ends it when it is told to`,
    async () => {
      await using server = await start();
      await using worker = await example("examples/durable_object.ts", server);

      const answers: { session: string; token: string }[] = [];
      for (let i = 0; i < 20; i++) {
        answers.push(await worker.ask("GET") as typeof answers[0]);
      }
      const sessions = await server.sessions();
      await worker.ask("DELETE");

      const [{ session }] = answers;
      assert(answers.every((answer) => answer.session === session));
      assertEquals(sessions.length, 1);
      assert(sessions[0].endsWith(session));
      const tokens = answers.map(({ token }) => BigInt(token));
      assert(tokens.every((token, i) => i === 0 || token > tokens[i - 1]));
      assertEquals(await server.sessions(), []);
      assertEquals(await contenders(server, "/locks/tasks"), []);
    },
  );
}

unchecked(
  "examples/durable_object.ts keeps its session while no request comes for longer than the timeout",
  async () => {
    await using server = await TestServer.start({
      tick: 100,
      maxSessionTimeout: 1_000,
    });
    await using worker = await example("examples/durable_object.ts", server);
    const first = await worker.ask("GET");
    server.clear();

    const pinged = () => server.count("ping") >= 6;
    await until("it pinged for two timeouts", pinged);

    const second = await worker.ask("GET");
    const sessionOf = (answer: unknown) =>
      (answer as { session: string }).session;
    assertEquals(sessionOf(second), sessionOf(first));
    await worker.ask("DELETE");
  },
);

/** An example, in workerd, connected to a server. */
async function example(
  path: string,
  { servers }: { servers: string },
): Promise<AsyncDisposable & { ask(method: string): Promise<unknown> }> {
  const worker: Worker = await startWorker({
    code: await bundle(path),
    bindings: { ZOOKEEPER: servers },
    durableObjects: path.includes("durable")
      ? { SESSION: "ZooKeeperSession" }
      : {},
  });
  return {
    async ask(method) {
      const reply = await worker.dispatchFetch("http://worker/", { method });
      const text = await reply.text();
      assertEquals([reply.status, text], [200, text]);
      return text === "closed" ? text : JSON.parse(text);
    },
    [Symbol.asyncDispose]: () => worker.dispose(),
  };
}

function orderIn(answer: unknown): number {
  return (answer as { order: number }).order;
}

function numbers(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** Who stands in line for a lock; its directory may be gone, too. */
async function contenders(
  { servers }: Server,
  path: string,
): Promise<string[]> {
  const zk = await connect(servers);
  try {
    return await zk.getChildren(path).catch(() => []);
  } finally {
    await zk.close();
  }
}
