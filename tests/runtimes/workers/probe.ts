// A worker that tells what becomes of connect(): with options of the test's, while the module loads, and kept for another request.
// Knows no expectation.
// Bundled and started by ../workers_probe.ts.

import { type Client, connect, type ConnectOptions } from "@zklock/zklock";

/** An error and its causes, outermost first. */
export interface Failure {
  name: string;
  code?: string;
  message: string;
}

/** What the worker answers: the errors, or none. */
export type Report = Failure[];

/** What it is asked. */
export interface Question {
  servers?: string;
  options?: ConnectOptions;
  /** Keeps the client for a later request, or uses the one that was kept. */
  kept?: "keep" | "use" | "close";
}

// Caught here: whoever imports the library and does no more gets no error.
const early = await reportOf(() => connect("127.0.0.1:1"));
let kept: Client | undefined;

async function reportOf(run: () => Promise<unknown>): Promise<Report> {
  try {
    await run();
    return [];
  } catch (error) {
    const report: Report = [];
    for (let e = error as Error; e instanceof Error; e = e.cause as Error) {
      const { name, message } = e;
      report.push({ name, code: (e as { code?: string }).code, message });
    }
    return report;
  }
}

async function ask({ servers, options, kept: way }: Question): Promise<void> {
  if (way === "use") return void await kept!.exists("/");
  if (way === "close") return await kept!.close();
  const zk = await connect(servers!, options);
  if (way === "keep") kept = zk;
  await zk.exists("/");
  if (way !== "keep") await zk.close();
}

export default {
  async fetch(request: Request): Promise<Response> {
    if (request.method === "GET") return Response.json(early);
    const question = await request.json() as Question;
    return Response.json(await reportOf(() => ask(question)));
  },
};
