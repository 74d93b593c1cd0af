// Who may import whom, and what else keeps the house in order: the rules of docs/design.md, read off the sources.
// The rules are a function from sources to complaints, so that a test can show that it would complain.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** Sources by path from the root of the repository, with slashes. */
type Sources = ReadonlyMap<string, string>;

/**
 * protocol/ from the bottom up: a file may import those named behind it, which
 * all stand above it in this table.
 */
const protocol: Record<string, string> = {
  "znode": "",
  "codes": "",
  "moment": "",
  "errors": "codes",
  "credentials": "",
  "secrets": "",
  "md5": "",
  "sha1": "",
  "acl": "sha1 codes znode",
  "transport/mod": "transport/node transport/workers",
  "transport/node": "transport/mod",
  "transport/workers": "transport/mod errors",
  "environment": "moment errors",
  "jute": "errors codes",
  "frames": "errors codes",
  "path": "errors codes",
  "servers": "errors codes path",
  "tls_failure": "servers errors transport/mod",
  "tls_options": "transport/mod",
  "watches": "errors codes",
  "records": "jute codes znode",
  "operations": "records jute codes errors",
  "requests": "operations watches",
  "news": "",
  "detached": "",
  "api":
    "codes credentials environment znode transport/mod watches errors news detached",
  "internals": "api moment watches news",
  "host": "watches",
  "digest_md5": "md5 host errors",
  "handshake": "records jute errors",
  "outgoing": "records jute codes operations requests",
  "pulse": "moment requests errors",
  "exchange":
    "operations outgoing requests pulse watches jute moment codes errors",
  "restoring": "exchange host operations watches codes errors",
  "identity": "exchange host operations records requests jute codes errors",
  "session":
    "exchange restoring detached identity handshake frames host pulse requests operations records watches jute moment codes errors news",
  "trace": "secrets operations codes api",
  "explain": "operations records jute codes",
  "four_letter": "servers environment tls_failure transport/mod errors",
  "seeker": "four_letter servers environment transport/mod",
  "connection":
    "session seeker servers environment tls_failure transport/mod errors",
  "sessions":
    "connection session host trace pulse requests operations watches environment tls_failure errors api news detached",
  "arguments": "path znode codes api",
  "multi":
    "arguments operations requests path znode codes errors api internals",
  "questions":
    "multi arguments operations requests watches path znode codes errors api internals",
  "detach": "sessions questions pulse detached errors",
  "options":
    "sessions acl credentials detached digest_md5 host arguments outgoing operations servers path environment tls_options transport/mod znode codes api",
  "client":
    "sessions detach detached options credentials questions multi arguments four_letter requests operations watches path environment znode codes errors api internals news",
  "mod":
    "client acl credentials detached internals arguments path moment pulse environment transport/mod watches znode codes errors api news",
};

/** Edges that go up when the program runs: the runtime's transport is loaded when it is needed. */
const lateBound = new Set([
  "protocol/transport/mod.ts → protocol/transport/node.ts",
  "protocol/transport/mod.ts → protocol/transport/workers.ts",
]);

/** Where names of a runtime may stand. */
const runtimeFiles =
  /^(protocol\/transport\/\w+\.ts|testing\/sockets\.ts|cli\.ts)$/;

/** What touches the clocks, timers or randomness of the host. */
const hostWords =
  /\b(Date\.now|new Date\(\)|performance\.|setTimeout|setInterval|setImmediate|Math\.random|crypto\.)/;

const longest = 420;

interface Import {
  specifier: string;
  /** Gone when the program runs. */
  type: boolean;
  /** Loaded by import(). */
  late: boolean;
}

/** A source without its comments; strings stay. */
function code(source: string): string {
  const strings = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/;
  const comments = /\/\/[^\n]*|\/\*[\s\S]*?\*\//;
  const either = new RegExp(`(${strings.source})|${comments.source}`, "g");
  return source.replace(either, (_, string) => string ?? " ");
}

function importsOf(source: string): Import[] {
  const text = code(source);
  const found: Import[] = [];
  const fixed = /\b(?:import|export)\b([^;"'`]*?)\bfrom\s*"([^"]+)"/g;
  for (const [, clause, specifier] of text.matchAll(fixed)) {
    const names = clause.trim().replace(/^\{|\}$/g, "").split(",")
      .map((name) => name.trim()).filter((name) => name !== "");
    const type = names.every((name) => name.startsWith("type ")) ||
      clause.trim().startsWith("type ");
    found.push({ specifier, type, late: false });
  }
  for (const [, specifier] of text.matchAll(/\bimport\s*"([^"]+)"/g)) {
    found.push({ specifier, type: false, late: false });
  }
  for (const [, specifier] of text.matchAll(/\bimport\s*\(\s*"([^"]+)"/g)) {
    found.push({ specifier, type: false, late: true });
  }
  return found;
}

/** The path a relative specifier means. */
function resolved(from: string, specifier: string): string {
  return new URL(specifier, `file:///${from}`).pathname.slice(1);
}

/** Why one file may not import another, if so. */
function forbidden(from: string, to: string): string | undefined {
  const [room] = from.split("/");
  if (room === "protocol") {
    const name = from.slice("protocol/".length, -3);
    const row = protocol[name];
    if (row === undefined) return "it has no row in the table of protocol/";
    const allowed = row.split(" ").map((other) => `protocol/${other}.ts`);
    return allowed.includes(to)
      ? undefined
      : "that is not in its row of the table";
  }
  const rooms: Record<string, RegExp> = {
    "mod.ts": /^(protocol|lock)\/mod\.ts$/,
    "lock": /^(protocol\/mod\.ts|lock\/.*)$/,
    "testing": /^(protocol|testing)\/.*$/,
    "cli.ts": /^(mod\.ts|testing\/.*|protocol\/explain\.ts)$/,
  };
  return rooms[room]?.test(to) ? undefined : "its room may not";
}

/** Everything that is against the rules. */
function complaints(sources: Sources): string[] {
  const found: string[] = [];
  const graph = new Map<string, string[]>();
  for (const [from, source] of sources) {
    const lines = source.split("\n").length - 1;
    if (lines > longest) found.push(`${from} has ${lines} lines`);
    if (!source.startsWith("//")) found.push(`${from} begins without comment`);
    const word = hostWords.exec(code(source));
    if (word && from !== "protocol/environment.ts") {
      found.push(`${from} uses ${word[1]}`);
    }
    const edges: string[] = [];
    for (const { specifier, type, late } of importsOf(source)) {
      if (/^(node|cloudflare):/.test(specifier)) {
        if (!runtimeFiles.test(from)) {
          found.push(`${from} imports ${specifier}`);
        }
        continue;
      }
      if (!/^\.\.?\//.test(specifier)) {
        found.push(`${from} imports ${specifier}, a bare specifier`);
        continue;
      }
      const to = resolved(from, specifier);
      if (!sources.has(to)) {
        found.push(`${from} imports ${to}, which is not there`);
      }
      const why = forbidden(from, to);
      if (why) found.push(`${from} imports ${to}: ${why}`);
      if (!type && !(late && lateBound.has(`${from} → ${to}`))) edges.push(to);
    }
    graph.set(from, edges);
  }
  return [...found, ...cycles(graph)];
}

/** Circles of imports, each named once. */
function cycles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) {
      found.push([...path.slice(path.indexOf(file)), file].join(" → "));
    } else if (!done.has(file)) {
      for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
      done.add(file);
    }
  };
  for (const file of graph.keys()) visit(file, []);
  return found.map((circle) => `a circle: ${circle}`);
}

/** The library's sources as they are. */
function library(): Sources {
  const root = new URL("../", import.meta.url);
  const sources = new Map<string, string>();
  const read = (path: string) =>
    sources.set(path, readFileSync(new URL(path, root), "utf8"));
  const walk = (folder: string) => {
    for (
      const entry of readdirSync(new URL(folder, root), { withFileTypes: true })
    ) {
      const path = `${folder}${entry.name}`;
      if (entry.isDirectory()) walk(`${path}/`);
      else if (entry.name.endsWith(".ts")) read(path);
    }
  };
  for (const file of ["mod.ts", "cli.ts"]) {
    if (existsSync(new URL(file, root))) read(file);
  }
  for (const folder of ["protocol/", "lock/", "testing/"]) {
    if (existsSync(new URL(folder, root))) walk(folder);
  }
  return sources;
}

describe("The layout of the library", () => {
  it("gives no reason to complain", () => {
    const sources = library();

    const found = complaints(sources);

    assertEquals(found, []);
  });

  it("is read from all four rooms: what is not read cannot be complained of", () => {
    const rooms = new Set(
      [...library().keys()].map((path) => path.split("/")[0]),
    );

    const missing = ["mod.ts", "protocol", "lock", "testing"].filter((room) =>
      !rooms.has(room)
    );

    assertEquals(missing, []);
  });

  it("has a table of protocol/ that goes from the bottom up", () => {
    const names = Object.keys(protocol);

    const upward = names.flatMap((name, at) =>
      protocol[name].split(" ").filter((other) =>
        other !== "" && names.indexOf(other) >= at
      )
        .map((other) => `protocol/${name}.ts → protocol/${other}.ts`)
    );

    assertEquals(upward.filter((edge) => !lateBound.has(edge)), []);
  });
});

describe("The layout test complains of", () => {
  const cases: Array<[string, Record<string, string>, string[]]> = [
    [
      "an import that is turned round",
      {
        "protocol/jute.ts":
          '// Low.\nimport { SessionMachine } from "./session.ts";\n',
        "protocol/session.ts": "// High.\n",
      },
      ["protocol/jute.ts imports protocol/session.ts: that is not in its row of the table"],
    ],
    [
      "one that is only a type",
      {
        "protocol/codes.ts":
          '// Low.\nimport type { Stat } from "./records.ts";\n',
        "protocol/records.ts": "// High.\n",
      },
      ["protocol/codes.ts imports protocol/records.ts: that is not in its row of the table"],
    ],
    [
      "protocol/ that knows locks",
      {
        "protocol/client.ts": '// Client.\nexport * from "../lock/mod.ts";\n',
        "lock/mod.ts": "// Locks.\n",
      },
      ["protocol/client.ts imports lock/mod.ts: that is not in its row of the table"],
    ],
    [
      "lock/ that goes behind protocol/mod.ts",
      {
        "lock/contend.ts":
          '// Locks.\nimport {\n  type A,\n  b,\n} from "../protocol/session.ts";\n',
        "protocol/session.ts": "// Session.\n",
      },
      ["lock/contend.ts imports protocol/session.ts: its room may not"],
    ],
    [
      "a circle",
      {
        "lock/a.ts": '// A.\nimport { b } from "./b.ts";\n',
        "lock/b.ts": '// B.\nimport { c } from "./c.ts";\n',
        "lock/c.ts": '// C.\nimport { type X, a } from "./a.ts";\n',
      },
      ["a circle: lock/a.ts → lock/b.ts → lock/c.ts → lock/a.ts"],
    ],
    [
      "a bare specifier",
      {
        "lock/a.ts":
          '// A.\nimport { assert } from "@std/assert";\nimport("npm:x");\nimport "y";\n',
      },
      [
        "lock/a.ts imports @std/assert, a bare specifier",
        "lock/a.ts imports y, a bare specifier",
        "lock/a.ts imports npm:x, a bare specifier",
      ],
    ],
    [
      "a module of a runtime outside of the transports",
      {
        "protocol/client.ts":
          '// Client.\nimport { readFile } from "node:fs";\n',
      },
      ["protocol/client.ts imports node:fs"],
    ],
    [
      "a file without a row in the table",
      {
        "protocol/new.ts": '// New.\nimport "./codes.ts";\n',
        "protocol/codes.ts": "// Codes.\n",
      },
      ["protocol/new.ts imports protocol/codes.ts: it has no row in the table of protocol/"],
    ],
    [
      "a file that is not there",
      { "testing/mod.ts": '// Mod.\nexport * from "./gone.ts";\n' },
      ["testing/mod.ts imports testing/gone.ts, which is not there"],
    ],
    ["a file that says nothing of itself", { "lock/a.ts": "export {};\n" }, [
      "lock/a.ts begins without comment",
    ]],
    ["a file that is too long", { "lock/a.ts": "//\n".repeat(421) }, [
      "lock/a.ts has 421 lines",
    ]],
    [
      "a clock that is not the environment's",
      {
        "lock/a.ts": "// A.\nexport const now = Date.now();\n",
        "protocol/environment.ts": "// E.\nperformance.now();\n",
      },
      ["lock/a.ts uses Date.now"],
    ],
  ];
  for (const [what, files, expected] of cases) {
    it(what, () => {
      const sources = new Map(Object.entries(files));

      const found = complaints(sources);

      assertEquals(found, expected);
    });
  }

  it("nothing in comments and strings", () => {
    const source =
      '// Of Date.now() and import "x".\n/** import y from "y"; */\nexport const a = "// no";\n';

    const found = complaints(new Map([["lock/a.ts", source]]));

    assertEquals(found, []);
  });

  it("no circle of types alone", () => {
    const sources = new Map([
      ["lock/a.ts", '// A.\nimport type { B } from "./b.ts";\n'],
      ["lock/b.ts", '// B.\nimport { type A } from "./a.ts";\n'],
    ]);

    const found = complaints(sources);

    assertEquals(found, []);
  });
});
