// The planner: which error is found first (reference, 9.4), what flags mean (4.4), and several writes as one.
// No server, no sessions: a tree, and writes.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import * as ops from "../../protocol/operations.ts";
import type { Acl } from "../../protocol/znode.ts";
import {
  Planner,
  Refusal,
  suffix,
  type Write,
  type Writer,
  type WriteRules,
} from "../../testing/plan.ts";
import { type Kind, Tree } from "../../testing/tree.ts";

const open: Acl[] = [{ perms: 31, scheme: "world", id: "anyone" }];
const only = (perms: number): Acl[] => [{ ...open[0], perms }];
const bad: Acl[] = [{ perms: 31, scheme: "nosuch", id: "x" }];
const me: Writer = { session: 7n, identities: [] };
const last = 2 ** 31 - 1;

type Shape = [path: string, acl?: Acl[], kind?: Kind];

/** /open, /shut (nothing allowed), /shut/x, /eph, /full with a child, and what a test adds. */
function treeOf(...more: Shape[]): Tree {
  const tree = new Tree({ isCounterWrapping: false, hasConfig: true });
  const shapes: Shape[] = [
    ["/open"],
    ["/shut", only(0)],
    ["/shut/x"],
    ["/eph", open, "ephemeral"],
    ["/eph-shut", only(27), "ephemeral"],
    ["/full"],
    ["/full/child"],
    ...more,
  ];
  for (const [path, acl = open, kind = "persistent"] of shapes) {
    const parent = tree.get(path.slice(0, path.lastIndexOf("/")))!;
    const owner = kind === "ephemeral" ? me.session : 0n;
    tree.apply({
      ...{ type: "create", path, data: null, acl, kind, owner, ttl: 0 },
      creates: parent.creates + 1,
    }, { zxid: 1n, time: 1 });
  }
  return tree;
}

function planner(rules: Partial<WriteRules> = {}, tree = treeOf()): Planner {
  return new Planner(tree, { hasTtls: true, hasReconfig: false, ...rules });
}

/** The error of a write; 0 for none. */
function errorOf(write: Write, by = planner()): number {
  try {
    by.one(write, me);
    return 0;
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    return refusal.number;
  }
}

function create(path: string, over: Record<string, unknown> = {}): Write {
  const { code = ops.create.code, ...rest } = over;
  const request = { path, data: null, acl: open, flags: 0, ...rest };
  return { code: code as number, request };
}

function remove(path: string, version = -1): Write {
  return { code: ops.remove.code, request: { path, version } };
}

function setData(path: string, version = -1): Write {
  return { code: ops.setData.code, request: { path, data: null, version } };
}

function setAcl(path: string, version = -1, acl = open): Write {
  return { code: ops.setAcl.code, request: { path, acl, version } };
}

function check(path: string, version = -1): Write {
  return { code: ops.check.code, request: { path, version } };
}

describe("Planner.one() finds the first error", () => {
  const ttl = { code: ops.createTtl.code, flags: 5 };
  const long = "x".repeat(5);
  const cases: [what: string, write: Write, error: number][] = [
    ["create: flags before path", create("abc", { flags: 9, acl: bad }), -8],
    ["create: path before ACL", create("abc", { acl: bad }), -8],
    ["create: NUL before ACL", create("/open/\0", { acl: bad }), -8],
    ["create: ACL before parent", create("/no/x", { acl: bad }), -114],
    ["create: no ACL is a bad one", create("/open/x", { acl: [] }), -114],
    ["create: parent before rights", create("/no/x"), -101],
    ["create: rights before path", create("/shut/."), -102],
    ["create: rights before existence", create("/shut/x"), -102],
    ["create: path before existence", create("/open/."), -8],
    ["create: existence before ephemeral parent", create("/full/child"), -110],
    ["create: rights before ephemeral parent", create("/eph-shut/x"), -102],
    ["create: ephemeral parent", create("/eph/x"), -108],
    ["create: fine", create(`/open/${long}`), 0],
    ["createTTL: ttl before path", create("abc", { ...ttl, ttl: 0n }), -8],
    ["delete: path before anything", remove("abc"), -8],
    ["delete: NUL before parent", remove("/no/\0"), -8],
    ["delete: parent before rights", remove("/no/x"), -101],
    ["delete: rights before node", remove("/shut/no"), -102],
    ["delete: rights before version", remove("/shut/x", 5), -102],
    ["delete: node before version", remove("/open/no", 5), -101],
    ["delete: version before children", remove("/full", 5), -103],
    ["delete: children", remove("/full", 0), -111],
    ["delete: fine", remove("/open", 0), 0],
    ["delete: rights of the node itself do not count", remove("/shut"), -111],
    ["setData: path before node", setData("/no/."), -8],
    ["setData: node before version", setData("/no", 5), -101],
    ["setData: rights before version", setData("/shut", 5), -102],
    ["setData: version", setData("/open", 5), -103],
    ["setData: fine", setData("/open", 0), 0],
    ["setACL: path before ACL", setAcl("/.", -1, bad), -8],
    ["setACL: ACL before node", setAcl("/no", -1, bad), -114],
    ["setACL: node before version", setAcl("/no", 5), -101],
    ["setACL: rights before version", setAcl("/shut", 5), -102],
    ["setACL: version", setAcl("/open", 5), -103],
    ["setACL: fine", setAcl("/open", 0), 0],
    ["check: path before node", check("/no/."), -8],
    ["check: node before version", check("/no", 5), -101],
    ["check: rights before version", check("/shut", 5), -102],
    ["check: version", check("/open", 1), -103],
    ["check: -1 is any version", check("/open", -1), 0],
    ["check: -2 is none", check("/open", -2), -103],
  ];

  for (const [what, write, error] of cases) {
    it(`${what}: ${error}`, () => {
      const result = errorOf(write);

      assertEquals(result, error);
    });
  }

  for (
    const [op, perm] of [
      [create("/a/b"), 4],
      [remove("/a/gone"), 8],
      [setData("/a"), 2],
      [setAcl("/a"), 16],
      [check("/a"), 1],
    ] as const
  ) {
    it(`operation ${op.code} needs permission ${perm} and no other`, () => {
      const results = [perm, 31 - perm].map((perms) =>
        errorOf(op, planner({}, treeOf(["/a", only(perms)], ["/a/gone"])))
      );

      assertEquals(results, [0, -102]);
    });
  }

  for (
    const path of ["/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"]
  ) {
    it(`${path} is never deleted`, () => {
      const result = errorOf(remove(path));

      assertEquals(result, -8);
    });
  }

  it("reconfig is disabled, or enabled where there is nothing to reconfigure", () => {
    const write = { code: ops.reconfig.code, request: null };

    const results = [false, true].map((hasReconfig) =>
      errorOf(write, planner({ hasReconfig }))
    );

    assertEquals(results, [-123, -6]);
  });
});

describe("Planner.one() reads flags", () => {
  const { create: c1, create2: c2, createContainer, createTtl } = ops;
  const cases: [
    code: number,
    flags: number,
    ttl: bigint | undefined,
    expected: string | number,
  ][] = [
    [c1.code, 0, undefined, "persistent /open/x"],
    [c1.code, 1, undefined, "ephemeral /open/x"],
    [c1.code, 2, undefined, "persistent /open/x0000000000"],
    [c1.code, 3, undefined, "ephemeral /open/x0000000000"],
    [c1.code, 4, undefined, "persistent /open/x"],
    [c1.code, 5, undefined, -8],
    [c1.code, 6, undefined, -8],
    [c1.code, 7, undefined, -8],
    [c1.code, 9, undefined, -8],
    [c1.code, -1, undefined, -8],
    [c2.code, 3, undefined, "ephemeral /open/x0000000000"],
    [c2.code, 4, undefined, "persistent /open/x"],
    [c2.code, 5, undefined, -8],
    [createContainer.code, 4, undefined, "container /open/x"],
    [createContainer.code, 0, undefined, "container /open/x"],
    [createTtl.code, 5, 1n, "ttl /open/x"],
    [createTtl.code, 6, 1n, "ttl /open/x0000000000"],
    [createTtl.code, 5, 0xff_ffff_ffffn, "ttl /open/x"],
    [createTtl.code, 5, 0x100_0000_0000n, -8],
    [createTtl.code, 5, 0n, -8],
    [createTtl.code, 5, -1n, -8],
    [createTtl.code, 0, 1n, -8],
    [createTtl.code, 4, 1n, -8],
  ];

  for (const [code, flags, ttl, expected] of cases) {
    it(`operation ${code} with flags ${flags} and ttl ${ttl}: ${expected}`, () => {
      const write = create("/open/x", { code, flags, ttl });

      const error = errorOf(write);
      const change = error === 0 ? planner().one(write, me) : null;

      const made = change?.type === "create" && `${change.kind} ${change.path}`;
      assertEquals(made || error, expected);
    });
  }

  it("TTLs that are not enabled are not implemented, before their ttl is looked at", () => {
    const write = create("abc", { code: createTtl.code, flags: 5, ttl: 0n });

    const result = errorOf(write, planner({ hasTtls: false }));

    assertEquals(result, -6);
  });

  it("an ephemeral znode belongs to the session that made it, others to none", () => {
    const owners = [0, 1].map((flags) => {
      const change = planner().one(create("/open/x", { flags }), me);
      return change?.type === "create" && change.owner;
    });

    assertEquals(owners, [0n, 7n]);
  });

  it("a sequential name may be all number", () => {
    const change = planner().one(create("/open/", { flags: 2 }), me);

    assertEquals(change?.path, "/open/0000000000");
  });

  it("the number is that of all creates below the parent", () => {
    const write = create("/full/s-", { flags: 2 });

    const change = planner().one(write, me);

    assertEquals(change?.path, "/full/s-0000000001");
  });

  it("any create moves the counter on, in 32 bits", () => {
    const tree = treeOf();
    tree.setCounter("/open", last);

    const change = planner({}, tree).one(create("/open/x"), me);

    assertEquals(change?.type === "create" && change.creates, -(2 ** 31));
  });
});

describe("suffix()", () => {
  const cases: [number, string][] = [
    [0, "0000000000"],
    [42, "0000000042"],
    [last, "2147483647"],
    [-(2 ** 31), "-2147483648"],
    [-1, "-000000001"],
  ];
  for (const [creates, expected] of cases) {
    it(`writes ${creates} as ${expected}`, () => {
      const result = suffix(creates);

      assertEquals(result, expected);
    });
  }
});

describe("Planner.one() on 3.4", () => {
  const old = { areEdgesAllowed: true, isIpExact: true };
  const edges = [0x1f, 0x7f, 0x9f, 0xf8ff, 0xfff0, 0xffff];
  const inner = [0x1, 0x1e, 0x80, 0xd801, 0xf8fe, 0xfff1, 0xfffd];

  it("takes the edges of the forbidden ranges, and nothing inside them", () => {
    const errors = [...edges, ...inner].map((code) =>
      errorOf(create(`/open/${String.fromCharCode(code)}`), planner(old))
    );

    assertEquals(errors, [...edges.map(() => 0), ...inner.map(() => -8)]);
  });

  it("keeps the path as it is", () => {
    const change = planner(old).one(create("/open/a\x7f"), me);

    assertEquals(change?.path, "/open/a\x7f");
  });

  it("takes no networks", () => {
    const acl = [{ perms: 31, scheme: "ip", id: "10.0.0.0/8" }];

    const errors = [planner(old), planner()].map((each) =>
      errorOf(create("/open/x", { acl }), each)
    );

    assertEquals(errors, [-114, 0]);
  });
});

describe("Planner.all()", () => {
  it("later writes see earlier ones", () => {
    const writes = [
      create("/n"),
      create("/n/s-", { flags: 2 }),
      create("/n/s-", { flags: 2 }),
      setData("/n", 0),
      check("/n", 1),
    ];

    const changes = planner().all(writes, me);

    const paths = Array.isArray(changes) && changes.map((c) => c && c.path);
    assertEquals(paths, [
      "/n",
      "/n/s-0000000000",
      "/n/s-0000000001",
      "/n",
      null,
    ]);
  });

  it("names the first that cannot be", () => {
    const writes = [create("/n"), create("/n"), setData("/no")];

    const result = planner().all(writes, me);

    assertEquals(result, { index: 1, refusal: new Refusal(-110) });
  });

  it("leaves the tree as it was, whether it can be or not", () => {
    const tree = treeOf();
    const before = tree.paths().sort();
    const by = planner({}, tree);

    by.all([create("/n"), create("/n/x"), remove("/open")], me);
    by.all([create("/n"), create("/n")], me);
    by.all([create("/n")], me);

    assertEquals(tree.paths().sort(), before);
    assertEquals(tree.get("/")!.creates, 5);
  });

  it("no writes are no changes", () => {
    const result = planner().all([], me);

    assertEquals(result, []);
  });
});
