// The types of the library as compilers and documentation see them.
// Knows no type by name. deno doc --lint is a part of deno task ok.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import process from "node:process";
import { nodeTypes, tsc } from "../../.ci/build.ts";
import { executeHere, inProject, library, succeed } from "./scratch.ts";

const settings = ["-p", ".ci/tsconfig.json", "--noEmit"];

describe("The sources, with isolatedDeclarations and erasableSyntaxOnly, are right for", () => {
  it("tsc with nodenext", async () => {
    const types = ["--typeRoots", await nodeTypes()];

    await tsc([...settings, ...types], library);
  });

  it("tsc with bundler", async () => {
    const types = ["--typeRoots", await nodeTypes()];
    const bundler = ["--module", "esnext", "--moduleResolution", "bundler"];

    await tsc([...settings, ...types, ...bundler], library);
  });
});

/** Where `any` stands in what `deno doc --json` says, by the names on the way there. */
function anyIn(node: unknown, names: readonly string[] = []): string[] {
  if (Array.isArray(node)) return node.flatMap((item) => anyIn(item, names));
  if (typeof node !== "object" || node === null) return [];
  const { kind, value, name } = node as Record<string, unknown>;
  if (kind === "keyword" && value === "any") return [names.join(".")];
  const way = typeof name === "string" ? [...names, name] : names;
  return Object.values(node).flatMap((item) => anyIn(item, way));
}

const doc = [process.execPath, "doc", "--json"];

describe("The public types", () => {
  it("have no any", async () => {
    const files = ["mod.ts", "testing/mod.ts"];

    const { output, errors } = await executeHere([...doc, ...files]);

    assertEquals(errors, "");
    assertEquals(anyIn(JSON.parse(output)), []);
  });

  it("would be found to have one", async () => {
    const source = `export function f(a: any): Array<any> { return a; }
export class C { m(b: { c: any }): void {} }
export interface I { p?: Promise<any>; q: unknown }
export type T = (x: readonly any[]) => void;
`;

    const text = await inProject(
      { "x.ts": source },
      (folder) => succeed(folder, [...doc, "x.ts"]),
    );

    const found = anyIn(JSON.parse(text)).sort();
    assertEquals(found, ["C.m.b.c", "I.p", "T.x", "f", "f.a"]);
  });
});
