// Every test of the locks over TLS with client certificates, against the embedded server.
// Knows no single test. Proxies and twins stay without TLS: they look into packets.

import { pickTransport } from "../../protocol/transport/mod.ts";
import { lockSuite } from "../suites/lock_suite.ts";
import { embeddedTarget, type Target } from "../targets.ts";
import { certificates } from "./certificates.ts";
import { startTerminator } from "./terminator.ts";

const { ca, client: { cert, key }, server: pair } = await certificates();
const plain = await embeddedTarget("3.9", "over TCP");
// Lives as long as this process, like all targets.
const { port } = await startTerminator({
  pair,
  target: plain.servers,
  clientCa: ca,
});
const tls = { ca, cert, key };

const target: Target = {
  ...plain,
  name: "Embedded 3.9, over TLS",
  transport: (address, handlers) =>
    pickTransport({ ...address, port, tls }, handlers),
};

lockSuite(target);
