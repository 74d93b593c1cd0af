// Prints everything the library hands out, in every way the runtime has, and looks for passwords in it.
// Runs on Deno, Bun and Node alike; knows no test library.
// Called by secrets_test.ts; by hand: deno run -A tests/auth/secrets.ts

import process from "node:process";
import { inspect } from "node:util";
import {
  acl,
  type Auth,
  connect,
  type ConnectOptions,
  digestId,
  type SaslOptions,
  SequentialLock,
} from "../../mod.ts";
import { FaultProxy, TestServer } from "../../testing/mod.ts";

/** What must not be seen, neither as text nor as bytes. Not written out: Bun prints sources with errors. */
const passwords = ["one", "two", "later", "wrong"].map((name) =>
  `Pa55-${name}`
);
const [proved, shown, added, wrong] = passwords;

interface Runtimes {
  Deno?: { inspect(value: unknown, options: unknown): string };
  Bun?: { inspect(value: unknown, options: unknown): string };
}

const { Deno, Bun } = globalThis as Runtimes;

/** Ways to print a value. */
const ways: Record<string, (value: unknown) => string> = {
  "String()": (value) => String(value),
  "JSON.stringify()": (value) => JSON.stringify(value, plain) ?? "",
  "inspect()": (value) => inspect(value, { depth: 20, maxArrayLength: null }),
  "inspect(), hidden": (value) =>
    inspect(value, { depth: 20, maxArrayLength: null, showHidden: true }),
  "stack": (value) => value instanceof Error ? `${value.stack}` : "",
};
const more = { depth: 20, iterableLimit: Infinity };
if (Deno) ways["Deno.inspect()"] = (value) => Deno.inspect(value, more);
if (Bun) ways["Bun.inspect()"] = (value) => Bun.inspect(value, more);

function plain(_: string, value: unknown): unknown {
  if (typeof value === "bigint") return `${value}`;
  // JSON leaves the fields of errors out.
  if (!(value instanceof Error)) return value;
  const { message, stack, cause } = value;
  return { ...value, message, stack, cause };
}

/** The forms in which bytes are printed. */
function formsOf(password: string): string[] {
  const bytes = [...new TextEncoder().encode(password)];
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, "0"));
  return [
    password,
    bytes.join(", "),
    bytes.join(","),
    hex.join(""),
    hex.join(" "),
    btoa(password).replace(/=+$/, ""),
  ];
}

/** Where a password is to be seen. */
function leaksIn(things: Record<string, unknown>): string[] {
  const found: string[] = [];
  for (const [name, thing] of Object.entries(things)) {
    for (const [way, print] of Object.entries(ways)) {
      // Columns of numbers are padded, and JSON numbers them.
      const text = print(thing).replace(/\s+/g, " ").replace(/"\d+":/g, "");
      for (const password of passwords) {
        if (formsOf(password).some((form) => text.includes(form))) {
          found.push(`${way} of ${name} shows ${password}`);
        }
      }
    }
  }
  return found;
}

/** Everything that comes out of a client that goes through good and bad times. */
async function allThatIsHandedOut(): Promise<Record<string, unknown>> {
  const server = await TestServer.start({ sasl: { anna: proved } });
  const proxy = await FaultProxy.start(server.servers);
  const packets: unknown[] = [];
  const news: unknown[] = [];
  const zk = await connect(proxy.servers, {
    sasl: { user: "anna", password: proved },
    auth: [{ scheme: "digest", auth: `anna:${shown}` }],
    acl: acl.creatorAll,
    onPacket: (packet) => void packets.push(packet),
  });
  zk.on("state", (change) => void news.push(change));
  zk.on("warning", (warning) => void news.push(warning));
  await zk.addAuth({ scheme: "digest", auth: `anna:${added}` });
  const lock = new SequentialLock(zk, "/lock");
  const held = await lock.acquire();
  proxy.cut();
  await zk.exists("/");
  const errors = await failures(proxy.servers);
  errors.push(
    await failure(() => zk.addAuth({ scheme: "nosuch", auth: wrong })),
  );
  const things = {
    client: zk,
    session: zk.session,
    environment: zk.environment,
    lock,
    held,
    contenders: await lock.contenders(),
    acl: await zk.getAcl("/lock"),
    packets,
    news,
    errors,
    server,
    requests: server.requests,
    proxy,
    "packets of the proxy": proxy.packets,
  };
  await zk.close();
  await proxy.close();
  await server.close();
  return {
    ...things,
    "the end": [zk, held, zk.signal.reason, held.signal.reason],
  };
}

/** Errors of every kind that has to do with credentials. */
async function failures(servers: string): Promise<unknown[]> {
  const tries: ConnectOptions[] = [
    { sasl: { user: "anna", password: wrong } },
    { sasl: { user: 7, password: wrong } as unknown as SaslOptions },
    { sasl: { user: "", password: wrong } },
    { sasl: { password: wrong } as SaslOptions },
    { sasl: `anna:${wrong}` as unknown as SaslOptions },
    { auth: [{ scheme: "nosuch", auth: `x:${wrong}` }] },
    { auth: [{ scheme: "", auth: `x:${wrong}` }] },
    { auth: [`digest:${wrong}` as unknown as Auth] },
    { auth: [{ scheme: "digest", auth: [wrong] } as unknown as Auth] },
    { auth: [{ scheme: "digest", auth: wrong.repeat(200_000) }] },
    { auth: `digest:${wrong}` as unknown as Auth[] },
    { auth: { auth: wrong } as unknown as Auth[] },
  ];
  const errors: unknown[] = [];
  for (const options of tries) {
    errors.push(await failure(() => connect(servers, options)));
  }
  errors.push(await failure(() => digestId("", wrong)));
  errors.push(await failure(() => digestId("a:b", wrong)));
  return errors;
}

/** The error of something that must not work. */
async function failure(run: () => unknown): Promise<unknown> {
  try {
    await run();
  } catch (error) {
    return error;
  }
  throw new Error(`Should have failed: ${run}`);
}

/** Things of which every way to print must show a password, or we would see nothing. */
function areSeen(): boolean {
  const bytes = new TextEncoder().encode(`....${proved}....`);
  const text = { deep: [{ password: added }] };
  const cause = new Error(wrong);
  const found = leaksIn({
    bytes: { bytes },
    text,
    error: new Error("x", { cause }),
  });
  // String() shows nothing of objects, and a stack stands in errors only.
  const silent = ["String()", "stack"];
  const expected = 3 * (Object.keys(ways).length - silent.length);
  if (found.length !== expected) console.log(found, expected);
  return found.length === expected;
}

const leaks = areSeen()
  ? leaksIn(await allThatIsHandedOut())
  : ["What must be seen is not seen"];
for (const leak of leaks) console.log(leak);
console.log(`${leaks.length} leaks`);
process.exitCode = leaks.length === 0 ? 0 : 1;
