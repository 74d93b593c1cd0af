// What of edge workers can be tested elsewhere: options, and errors by name.
// The rest runs in workerd: tests/runtimes/workers*.

import {
  assertEquals,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { hostEnvironment, touched } from "../../protocol/environment.ts";
import { ZooKeeperError } from "../../protocol/errors.ts";
import { checkWorkerTls, isWorker } from "../../protocol/transport/mod.ts";

describe("checkWorkerTls()", () => {
  for (const name of ["ca", "cert", "key"]) {
    it(`refuses ${name}`, () => {
      const tls = { [name]: "-----BEGIN …" };

      const error = assertThrows(() => checkWorkerTls(tls), TypeError);

      assertStringIncludes(error.message, `tls.${name} in a Worker`);
    });
  }

  it("refuses to trust everybody", () => {
    const tls: object = { rejectUnauthorized: false };

    assertThrows(() => checkWorkerTls(tls), TypeError, "rejectUnauthorized");
  });

  it("takes serverName, and what is not there", () => {
    const tls = { serverName: "zk", ca: undefined, rejectUnauthorized: true };

    checkWorkerTls(tls);
  });
});

describe("isWorker()", () => {
  it("is false on a runtime with sockets of its own", () => {
    assertEquals(isWorker(), false);
  });
});

describe("touched()", () => {
  it("answers the signal where it may be touched", () => {
    const { signal } = new AbortController();

    assertStrictEquals(touched(signal), signal);
  });

  it("says by name that a signal belongs to another request", () => {
    const cause = new Error("Cannot perform I/O on behalf of a different …");
    const signal = {
      get aborted(): boolean {
        throw cause;
      },
    } as AbortSignal;

    const error = assertThrows(() => touched(signal), ZooKeeperError);

    assertEquals(error.code, "OtherRequest");
    assertStrictEquals(error.cause, cause);
  });
});

describe("hostEnvironment.random()", () => {
  it("passes an error on that is not about where it is called", () => {
    const tooMany = new Uint8Array(100_000);

    const error = assertThrows(() => hostEnvironment.random(tooMany));

    assertEquals(error.name, "QuotaExceededError");
  });
});
