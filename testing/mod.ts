/// <reference lib="esnext.disposable" />
// What tests of users import: @zklock/zklock/testing.
// No logic.

/**
 * Tools for tests of programs that use ZooKeeper: a proxy that makes the network
 * fail, and a way to end a session.
 *
 * @module
 */

export { expireSession } from "./expire.ts";
export {
  FaultProxy,
  type FaultProxyOptions,
  type Rule,
  type Way,
} from "./faults.ts";
export type { Direction, SeenPacket } from "./packets.ts";
export type { Verdict } from "./relay.ts";
