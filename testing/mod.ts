// What tests of users import: @zklock/zklock/testing.
// No logic.

/**
 * Tools for tests of programs that use ZooKeeper: a server in this process that
 * speaks the real protocol and fails on demand, time that passes at will, a proxy
 * that makes the network to a real server fail, and a way to end a session there.
 *
 * @module
 */

export { VirtualClock } from "./clock.ts";
export { expireSession } from "./expire.ts";
export {
  FaultProxy,
  type FaultProxyOptions,
  type Rule,
  type Way,
} from "./faults.ts";
export type { Direction, SeenPacket } from "./packets.ts";
export type { ServerVersion } from "./profiles.ts";
export type { Verdict } from "./relay.ts";
export { TestServer } from "./server.ts";
export type {
  Reception,
  RequestFate,
  RequestRule,
  SeenRequest,
  TestServerOptions,
  ZnodeView,
} from "./server_api.ts";
