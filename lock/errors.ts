// The errors of locks, on the base of the client's.
// Knows no client.
// Thrown by the other files of lock/.

import { ZooKeeperError } from "../protocol/mod.ts";

/** The lock is not held any more, or cannot be believed to be. `cause` says why. */
export class LockLostError extends ZooKeeperError {
  /** The name of the class. */
  override name = "LockLostError";
  /** The znode that stood for the lock. */
  readonly path: string;
  /** Its fencing token. */
  readonly token: bigint;

  /** Made by the library. */
  constructor(path: string, token: bigint, options?: ErrorOptions) {
    const { cause } = options ?? {};
    const why = cause instanceof Error ? `: ${cause.message}` : "";
    super("LockLost", `Lost the lock ${path}${why}`, options);
    this.path = path;
    this.token = token;
  }
}

/**
 * The numbers of a lock are used up, so that its order cannot be told any more.
 * After 2^31-1 children a server gives every further one the same number
 * (ZOOKEEPER-3249; kazoo#730), and clients that go on lock twice. Let the lock's
 * znode be deleted once nobody uses it: then the numbers start again.
 */
export class SequenceExhaustedError extends ZooKeeperError {
  /** The name of the class. */
  override name = "SequenceExhaustedError";
  /** The lock. */
  readonly path: string;
  /** The number it gave out last. */
  readonly sequence: number;

  /** Made by the library. */
  constructor(path: string, sequence: number) {
    super(
      "SequenceExhausted",
      `Cannot lock ${path}: its numbers are used up: ${sequence}`,
    );
    this.path = path;
    this.sequence = sequence;
  }
}
