// The locks.
// No logic.

export { LockLostError, SequenceExhaustedError } from "./errors.ts";
export { ExclusiveLock } from "./exclusive_lock.ts";
export type { HeldLock, HeldLockState } from "./held_lock.ts";
export {
  type Contender,
  Lock,
  type LockOptions,
  type ResumeOptions,
} from "./lock.ts";
export { SequentialLock } from "./sequential_lock.ts";
export type { AcquireOptions } from "./turn.ts";
export { withLock, type WithLockOptions } from "./with_lock.ts";
