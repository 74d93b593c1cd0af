// What workers do not allow: how it is said.
// Runs workers/probe.ts in workerd.

import { assertEquals, assertMatch } from "@std/assert";
import { TestServer } from "../../testing/mod.ts";
import { freePorts } from "../real/ports.ts";
import { startProbe } from "./workers_probe.ts";
import { unchecked } from "./workers_tools.ts";

const options = { connectTimeout: 1_000, sessionTimeout: 4_000 };

unchecked(
  "connect() while the module of a worker loads says that it may not",
  async () => {
    await using worker = await startProbe();

    const [error] = await worker.ask();

    assertEquals([error.name, error.code], ["ZooKeeperError", "GlobalScope"]);
    assertMatch(error.message, /inside a handler/);
  },
);

unchecked(
  "connect() in a worker says what a refused connection may mean",
  async () => {
    await using worker = await startProbe();
    const [port] = await freePorts(1);

    const report = await worker.ask({ servers: `127.0.0.1:${port}`, options });

    assertEquals(report.map(({ code }) => code), [
      "ConnectionLoss",
      "Unreachable",
      undefined,
    ]);
    assertMatch(
      report[0].message,
      /within 1000 ms: Cannot reach 127.0.0.1:\d+: refused, unknown or blocked/,
    );
  },
);

unchecked(
  "connect() in a worker that may reach public addresses alone says that it may be blocked",
  async () => {
    await using server = await TestServer.start();
    await using worker = await startProbe({ allow: ["public"] });

    const report = await worker.ask({ servers: server.servers, options });

    assertEquals(report[1].code, "Unreachable");
    assertMatch(report[1].message, /EACCES/);
  },
);

for (const kept of ["use", "close"] as const) {
  unchecked(
    `a client that a worker keeps for another request says that it cannot be kept: ${kept}`,
    async () => {
      await using server = await TestServer.start();
      await using worker = await startProbe();
      const { servers } = server;
      assertEquals(await worker.ask({ servers, options, kept: "keep" }), []);

      const [error] = await worker.ask({ kept });

      assertEquals([error.name, error.code], [
        "ZooKeeperError",
        "OtherRequest",
      ]);
      assertMatch(error.message, /belongs to the request/);
    },
  );
}
