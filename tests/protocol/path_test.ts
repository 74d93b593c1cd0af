// Paths: what a server would create, and the chroot on the way out and in.
// Pure; the table is that of PathUtils, the chroot cases those of ZOOKEEPER-4565, -4601, -4742 and rust-zookeeper#5.

import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  addChroot,
  baseName,
  joinPath,
  normalizeChroot,
  parentPath,
  stripChroot,
  validatePath,
} from "../../protocol/path.ts";

const show = (text: unknown) => JSON.stringify(text);

describe("validatePath()", () => {
  const good = [
    "/",
    "/a",
    "/a/b",
    "/..x",
    "/ok.",
    "/a.b/...",
    "/a b",
    "/ü-日",
    "/\ud7ff",
    "/\ufaff",
    "/\uffef",
    "/zookeeper/config",
    "/~",
    "/\u00a0",
    "/a:b,c",
  ];
  for (const path of good) {
    it(`takes ${show(path)}`, () => {
      const result = validatePath(path);

      assertEquals(result, undefined);
    });
  }

  const bad: Array<[unknown, string]> = [
    ["", "empty"],
    ["a", 'start with "/"'],
    ["abc/d", 'start with "/"'],
    [" /a", 'start with "/"'],
    ["/a/", 'ends with "/"'],
    ["//", 'ends with "/"'],
    ["//a", "empty name"],
    ["/a//b", "empty name"],
    ["/.", '"."'],
    ["/..", '".."'],
    ["/a/./b", '"."'],
    ["/a/../b", '".."'],
    ["/a\0", "U+0000"],
    ["/\u0001", "U+0001"],
    ["/a\n", "U+000A"],
    ["/\u001f", "U+001F"],
    ["/\u007f", "U+007F"],
    ["/\u009f", "U+009F"],
    ["/\ud800", "U+D800"],
    ["/😀", "U+D83D"],
    ["/\uf8ff", "U+F8FF"],
    ["/\ufff0", "U+FFF0"],
    ["/\uffff", "U+FFFF"],
    [undefined, "not a string"],
    [null, "not a string"],
    [7, "not a string"],
    [{}, "not a string"],
  ];
  for (const [path, why] of bad) {
    it(`refuses ${show(path)} and says: ${why}`, () => {
      const error = assertThrows(() => validatePath(path as string), TypeError);

      assertStringIncludes(error.message, why);
    });
  }

  it("takes a trailing slash where the server appends a number, as Java does", () => {
    const results = ["/", "/a/", "/a/lock-"].map((path) =>
      validatePath(path, true)
    );

    assertEquals(results, [undefined, undefined, undefined]);
  });

  it("refuses everything else also where the server appends a number", () => {
    const paths = ["", "a", "/a//", "/./b", "/a\0"];

    const errors = paths.map((path) =>
      assertThrows(() => validatePath(path, true), TypeError)
    );

    assertEquals(errors.length, paths.length);
  });
});

describe("Taking paths apart", () => {
  it("joinPath() puts no second slash behind the root", () => {
    const paths = [joinPath("/", "a"), joinPath("/a", "b")];

    assertEquals(paths, ["/a", "/a/b"]);
  });

  it("parentPath() of the root and of its children is the root", () => {
    const parents = ["/", "/a", "/a/b", "/a/b/c"].map(parentPath);

    assertEquals(parents, ["/", "/", "/a", "/a/b"]);
  });

  it("baseName() is what stands behind the last slash", () => {
    const names = ["/", "/a", "/a/b-0000000001"].map(baseName);

    assertEquals(names, ["", "a", "b-0000000001"]);
  });
});

describe("The chroot", () => {
  const table: Array<[string, string, string]> = [
    ["", "/", "/"],
    ["", "/a/b", "/a/b"],
    ["/app", "/", "/app"],
    ["/app", "/a", "/app/a"],
    ["/app", "/app", "/app/app"],
    ["/a/b", "/c/d", "/a/b/c/d"],
    ["/zoo", "/keeper", "/zoo/keeper"],
    ["/zoo", "/zookeeper", "/zoo/zookeeper"],
  ];
  for (const [chroot, path, full] of table) {
    it(`${show(chroot)}: addChroot() makes ${full} of ${path}, and stripChroot() takes it back`, () => {
      const out = addChroot(chroot, path);

      assertEquals([out, stripChroot(chroot, out)], [full, path]);
    });
  }

  const outside: Array<[string, string]> = [
    ["/zoo", "/zookeeper"],
    ["/zoo", "/zookeeper/config"],
    ["/zoo", "/zo"],
    ["/a/b", "/a"],
    ["/a/b", "/a/bc/d"],
  ];
  for (const [chroot, path] of outside) {
    it(`${chroot}: stripChroot() leaves ${path} alone, which lies outside (ZOOKEEPER-4601)`, () => {
      const inside = stripChroot(chroot, path);

      assertEquals(inside, path);
    });
  }

  it("normalizeChroot() reads nothing and the root as none", () => {
    const roots = ["", "/", "/app", "/a/b"].map(normalizeChroot);

    assertEquals(roots, ["", "", "/app", "/a/b"]);
  });

  for (const chroot of ["app", "/app/", "//", "/a//b", "/a/..", "/a\0"]) {
    it(`normalizeChroot() refuses ${show(chroot)}`, () => {
      assertThrows(() => normalizeChroot(chroot), TypeError, "Cannot use path");
    });
  }
});
