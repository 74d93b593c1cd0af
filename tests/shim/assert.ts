// Stand-in for the part of jsr:@std/assert that our tests use, where JSR cannot be reached.
// Same names, same meaning; comparing is left to node:assert.
// Mapped by tests/offline.import_map.json.

import nodeAssert from "node:assert/strict";

export class AssertionError extends Error {
  override name = "AssertionError";
}

type ErrorClass<E extends Error> = abstract new (...args: never[]) => E;

export function assert(condition: unknown, message = ""): asserts condition {
  if (!condition) throw new AssertionError(message || "not true");
}

export function fail(message = "failed"): never {
  throw new AssertionError(message);
}

export function assertEquals<T>(actual: T, expected: T, message?: string) {
  nodeAssert.deepEqual(actual, expected, message);
}

export function assertNotEquals<T>(actual: T, expected: T, message?: string) {
  nodeAssert.notDeepEqual(actual, expected, message);
}

export function assertStrictEquals<T>(
  actual: unknown,
  expected: T,
  message?: string,
): asserts actual is T {
  nodeAssert.strictEqual(actual, expected, message);
}

export function assertStringIncludes(actual: string, part: string) {
  assert(actual.includes(part), `"${actual}" does not include "${part}"`);
}

export function assertMatch(actual: string, pattern: RegExp) {
  assert(pattern.test(actual), `"${actual}" does not match ${pattern}`);
}

export function assertInstanceOf<E extends Error>(
  actual: unknown,
  type: ErrorClass<E>,
): asserts actual is E {
  assert(actual instanceof type, `not a ${type.name}: ${actual}`);
}

export function assertGreater<T>(actual: T, limit: T, message = "") {
  assert(actual > limit, message || `${actual} is not above ${limit}`);
}

export function assertLess<T>(actual: T, limit: T, message = "") {
  assert(actual < limit, message || `${actual} is not below ${limit}`);
}

export function assertThrows<E extends Error = Error>(
  run: () => unknown,
  type?: ErrorClass<E>,
  includes?: string,
): E {
  try {
    run();
  } catch (error) {
    return checked(error, type, includes);
  }
  return fail("nothing was thrown");
}

export async function assertRejects<E extends Error = Error>(
  run: () => PromiseLike<unknown>,
  type?: ErrorClass<E>,
  includes?: string,
): Promise<E> {
  try {
    await run();
  } catch (error) {
    return checked(error, type, includes);
  }
  return fail("it did not reject");
}

function checked<E extends Error>(
  error: unknown,
  type?: ErrorClass<E>,
  includes?: string,
): E {
  if (type) assertInstanceOf(error, type);
  if (includes) assertStringIncludes((error as Error).message, includes);
  return error as E;
}
