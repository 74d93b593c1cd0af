// Lets Bun import modules by http: and https: URL, as Deno does. Copy it into your project and preload it:
//   bun --preload ./bun_http_imports.ts main.ts      or, in bunfig.toml:  preload = ["./bun_http_imports.ts"]
// Knows nothing of zklock. Each start fetches each module again; what it fetches runs with all your rights.

interface Args {
  path: string;
  importer: string;
}

interface Module {
  contents: string;
  loader: "ts" | "js";
}

interface Builder {
  onResolve(
    options: { filter: RegExp; namespace?: string },
    resolve: (args: Args) => { path: string; namespace: string } | undefined,
  ): void;
  onLoad(
    options: { filter: RegExp; namespace: string },
    load: (args: Args) => Promise<Module>,
  ): void;
}

declare const Bun: {
  plugin(plugin: { name: string; setup(builder: Builder): void }): void;
};

async function load(url: string): Promise<Module> {
  const response = await fetch(url);
  if (!response.ok) {
    throw new Error(`Cannot import ${url}: status ${response.status}`);
  }
  const contents = await response.text();
  return { contents, loader: /\.m?js$/.test(url) ? "js" : "ts" };
}

Bun.plugin({
  name: "http imports",
  setup(builder) {
    // Bun takes what stands in front of the colon for a namespace: the path
    // begins with the two slashes.
    for (const namespace of ["http", "https"]) {
      builder.onResolve(
        { filter: /.*/, namespace },
        ({ path }) => ({ path, namespace }),
      );
      builder.onLoad(
        { filter: /.*/, namespace },
        ({ path }) => load(`${namespace}:${path}`),
      );
    }
    builder.onResolve({ filter: /^\.\.?\// }, ({ path, importer }) => {
      // Of an import() while the program runs, the importer has a slash in front.
      const [, base, namespace] = /^\/?((https?):.*)/.exec(importer) ?? [];
      if (namespace === undefined) return undefined;
      const { href } = new URL(path, base);
      return { path: href.slice(namespace.length + 1), namespace };
    });
  },
});
