// A client with a chroot: every operation, every event, every error names paths as the user does.
// Knows the server's names as well, by a second client without a chroot.
// Part of client_suite.ts.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe } from "@std/testing/bdd";
import {
  type Client,
  type Data,
  MultiError,
  type ServerEventType,
} from "../../protocol/mod.ts";
import {
  assertRefused,
  Ear,
  isSince,
  tester,
  textOf,
  type World,
} from "./tools.ts";
import { connectTo, type Target } from "../targets.ts";

/** Both forms, and more than one level. */
const chroots = ["/zoo", "/zoo/two levels"];

export function chrootSuite(target: Target): void {
  for (const chroot of chroots) {
    describe(`A chroot ${chroot}`, () => {
      operationTests(target, chroot);
      eventTests(target, chroot);
    });
  }
  describe("A chroot", () => formTests(target));
}

interface Inside {
  /** With the chroot. */
  inside: Client;
  /** Without. */
  zk: Client;
  /** The chroot's full path. */
  base: string;
}

/** `it()`, with a client inside and one outside. */
function insider(target: Target, chroot: string): (
  name: string,
  use: (inside: Inside) => Promise<void>,
) => void {
  const test = tester(target);
  return (name, use) =>
    test(name, async ({ zk, root, open }: World) => {
      const base = root + chroot;
      await zk.ensurePath(base);
      await use({ zk, base, inside: await open({ chroot: base }) });
    });
}

function operationTests(target: Target, chroot: string): void {
  const test = insider(target, chroot);

  test("create() answers the path inside", async ({ inside, zk, base }) => {
    const { path } = await inside.create("/a", "x");

    assertEquals(path, "/a");
    assertEquals(textOf((await zk.getData(`${base}/a`)).data), "x");
  });

  test("create() answers the path of a sequential znode inside", async ({ inside, zk, base }) => {
    const mode = "persistent-sequential";

    const { path } = await inside.create("/a-", "", { mode });

    assertEquals(path, "/a-0000000000");
    assert(await zk.exists(`${base}/a-0000000000`));
  });

  test("create() makes a number without a name inside, not beside the chroot", async ({ inside, zk, base }) => {
    const mode = "persistent-sequential";

    const { path } = await inside.create("/", "", { mode });

    assertEquals(path, "/0000000000");
    assertEquals(await zk.getChildren(base), ["0000000000"]);
  });

  test("create() with parents makes those inside", async ({ inside, zk, base }) => {
    await inside.create("/a/b", "", { parents: true });

    assert(await zk.exists(`${base}/a/b`));
  });

  test("reads and writes are of the znode inside", async ({ inside, zk, base }) => {
    const acl = [{ perms: 31, scheme: "world", id: "anyone" }];
    await zk.create(`${base}/a`, "1");

    const stat = await inside.setData("/a", "2");
    assertEquals(await inside.exists("/a"), stat);
    assertEquals(textOf((await inside.getData("/a")).data), "2");
    assertEquals(await inside.getChildren("/"), ["a"]);
    assertEquals((await inside.getChildren2("/")).children, ["a"]);
    assertEquals((await inside.getAcl("/a")).acl, acl);
    assertEquals((await inside.setAcl("/a", acl)).aversion, 1);
    await inside.sync("/a");
    await inside.delete("/a");

    assertEquals(await zk.exists(`${base}/a`), null);
  });

  test("the root inside is the chroot itself", async ({ inside, zk, base }) => {
    await inside.setData("/", "x");
    await inside.sync("/");

    assertEquals(await inside.exists("/"), await zk.exists(base));
    assertEquals(textOf((await zk.getData(base)).data), "x");
  });

  test("multi() answers paths inside", async ({ inside, zk, base }) => {
    const { results } = await inside.multi([
      { op: "create", path: "/a" },
      { op: "create", path: "/a/b-", mode: "ephemeral-sequential" },
      { op: "check", path: "/a" },
      { op: "setData", path: "/a", data: "x" },
    ]);

    const paths = results.map((result) => "path" in result && result.path);
    assertEquals(paths, ["/a", "/a/b-0000000000", false, false]);
    assert(await zk.exists(`${base}/a/b-0000000000`));
  });

  test("errors have the path inside", async ({ inside }) => {
    const one = await assertRefused(() => inside.getData("/a"), "NoNode");
    const many = await assertRejects(
      () => inside.multi([{ op: "check", path: "/a" }]),
      MultiError,
    );

    assertEquals([one.path, many.path, many.results[0].path], [
      "/a",
      "/a",
      "/a",
    ]);
    assertEquals(one.message, "Cannot getData /a: NoNode (-101)");
  });

  if (!isSince(target, "3.6")) return;

  test("what came with 3.6 knows paths inside alone", async ({ inside, zk, base }) => {
    const mode = "ephemeral";
    await inside.create("/a", "1");
    await inside.create("/e", "", { mode });
    await inside.create2("/f", "", { mode });

    const read = await inside.multiRead([{ op: "getData", path: "/a" }]);
    const ephemerals = await inside.getEphemerals();

    assertEquals(await inside.getAllChildrenNumber("/"), 3);
    assertEquals(ephemerals.sort(), ["/e", "/f"]);
    assertEquals(await inside.getEphemerals("/f"), ["/f"]);
    const { data, stat } = await zk.getData(`${base}/a`);
    assertEquals(read, [{ op: "getData", data, stat }]);
  });
}

/** A watch on `path`, what sets it off, and what is heard inside. */
interface EventRow {
  type: ServerEventType;
  path: string;
  watch: (inside: Client, path: string, ear: Ear) => Promise<unknown>;
  /** Done without the chroot, at the full path. */
  change: (zk: Client, full: string) => Promise<unknown>;
}

const onData = (zk: Client, path: string, ear: Ear) => zk.exists(path, ear);
const onNames = (zk: Client, path: string, ear: Ear) =>
  zk.getChildren(path, ear);
const create = (zk: Client, full: string) => zk.create(full);
const remove = (zk: Client, full: string) => zk.delete(full);
const set = (zk: Client, full: string, data: Data = "x") =>
  zk.setData(full, data);
const grow = (zk: Client, full: string) => zk.create(`${full}/new`);

const rows: EventRow[] = [
  { type: "created", path: "/b", watch: onData, change: create },
  { type: "data-changed", path: "/a", watch: onData, change: set },
  { type: "data-changed", path: "/", watch: onData, change: set },
  { type: "deleted", path: "/a", watch: onData, change: remove },
  { type: "deleted", path: "/a", watch: onNames, change: remove },
  { type: "children-changed", path: "/a", watch: onNames, change: grow },
  { type: "children-changed", path: "/", watch: onNames, change: grow },
];

function eventTests(target: Target, chroot: string): void {
  const test = insider(target, chroot);

  // ZOOKEEPER-4565, ZOOKEEPER-4742, rust-zookeeper#5: wrong at the chroot itself.
  for (const { type, path, watch, change } of rows) {
    const by = watch === onData ? "exists()" : "getChildren()";
    test(`an event ${type} of ${path}, by ${by}, has the path inside`, async ({ inside, zk, base }) => {
      const ear = new Ear();
      await zk.create(`${base}/a`);
      await watch(inside, path, ear);

      await change(zk, path === "/" ? base : base + path);

      assertEquals(await ear.hears(1), [`${type} ${path}`]);
    });
  }

  test("the deletion and the creation of the chroot itself are of /", async ({ inside, zk, base }) => {
    const ear = new Ear();
    await inside.exists("/", ear);
    await zk.delete(base);
    await ear.hears(1);
    await inside.exists("/", ear);

    await zk.create(base);

    assertEquals(await ear.hears(2), ["deleted /", "created /"]);
  });

  test("the end of the session is told by the paths inside", async ({ inside }) => {
    const ear = new Ear();
    await inside.exists("/", ear);
    await inside.exists("/a", ear);

    await inside.close();

    assertEquals((await ear.hears(2)).sort(), [
      "session-lost /",
      "session-lost /a",
    ]);
  });

  if (!isSince(target, "3.6")) return;

  test("a recursive watch of / hears paths inside", async ({ inside, zk, base }) => {
    const ear = new Ear();
    await inside.addWatch("/", ear.watch, { mode: "persistent-recursive" });

    await zk.create(`${base}/a`);
    await zk.setData(base, "x");
    await ear.hears(2);
    await inside.removeWatches("/");

    assertEquals(await ear.hears(3), [
      "created /a",
      "data-changed /",
      "watch-removed /",
    ]);
  });
}

function formTests(target: Target): void {
  const test = tester(target);

  test("may end the connect string", async ({ zk, root }) => {
    const inside = await connectTo(target, {}, root);
    try {
      await inside.create("/a");
    } finally {
      await inside.close();
    }

    assert(await zk.exists(`${root}/a`));
  });

  test("of / is none", async ({ root, open }) => {
    const zk = await open({ chroot: "/" });

    assert(await zk.exists(root));
  });

  test("that does not exist makes every call answer NoNode", async ({ root, open }) => {
    const inside = await open({ chroot: `${root}/nothing` });

    await assertRefused(() => inside.create("/a"), "NoNode");
    await assertRefused(() => inside.getChildren("/"), "NoNode");
    assertEquals(await inside.exists("/"), null);
  });

  if (!isSince(target, "3.5")) return;

  // ZOOKEEPER-4601: /zoo is no prefix of /zookeeper.
  test("of /zoo leaves /zookeeper/config its name", async ({ open }) => {
    const ear = new Ear();
    const inside = await open({ chroot: "/zoo" });
    await inside.getConfig(ear);

    await inside.close();

    assertEquals(await ear.hears(1), ["session-lost /zookeeper/config"]);
  });
}
