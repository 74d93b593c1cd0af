// What a module of JavaScript imports, read by a lexer and not by a pattern.
// Must not judge it.
// Called by bundle_test.ts and imports_test.ts.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { npmPackage } from "../real/npm.ts";

/** What the lexer says of an import; import.meta is one to it. */
interface Found {
  /** The name, if it is written out. */
  n?: string;
  /** -1: at once, -2: import.meta; else an import(). */
  d: number;
  /** Where the name stands, or what gives it. */
  s: number;
  e: number;
}

interface Lexer {
  init: Promise<void>;
  parse(source: string): readonly [readonly Found[], unknown];
}

/** The imports of a module by name; `? name` where only the program would know. */
export interface Imports {
  /** Before the module runs. */
  fixed: string[];
  /** By import(). */
  late: string[];
}

/** Reads the imports of a module. */
export async function importsOf(source: string): Promise<Imports> {
  const folder = await npmPackage("es-module-lexer", "1.7.0");
  const { href } = pathToFileURL(join(folder, "dist/lexer.js"));
  const { init, parse }: Lexer = await import(href);
  await init;
  const imports: Imports = { fixed: [], late: [] };
  for (const { n, d, s, e } of parse(source)[0]) {
    if (d === -2) continue;
    const name = n ?? nameIn(source, source.slice(s, e).trim());
    imports[d === -1 ? "fixed" : "late"].push(name);
  }
  return imports;
}

/** transport/workers.ts hides one name, so that bundlers for other runtimes do not look for it. */
function nameIn(source: string, expression: string): string {
  // tsc puts names that it cannot read through a function.
  const variable = expression
    .replace(/^__rewriteRelativeImportExtension\((\w+)\)$/, "$1");
  const hidden = /^\w+$/.test(variable) && new RegExp(
    `\\b${variable} ?= ?\\["cloudflare", ?"sockets"\\]\\.join\\(":"\\)`,
  );
  return hidden && hidden.test(source) ? "cloudflare:sockets" : `? ${variable}`;
}
