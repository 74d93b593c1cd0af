// A worker to ask what becomes of connect() there.
// Knows no expectation.
// Used by workers_limits_test.ts and workers_tls_test.ts.

import type { Question, Report } from "./workers/probe.ts";
import { bundle, startWorker } from "./workers_tools.ts";

/** What the worker may reach, and whom it trusts. */
export interface Surroundings {
  /** Default: public and private addresses. */
  allow?: readonly string[];
  /** An authority, as PEM text, beside those of browsers. */
  trusted?: string;
}

/** workers/probe.ts, running. */
export interface Probe extends AsyncDisposable {
  /** The errors of connecting as it is asked, or, without a question, while the module loads. */
  ask(question?: Question): Promise<Report>;
}

let code: Promise<string> | undefined;

/** Starts one. */
export async function startProbe(
  { allow = ["public", "private"], trusted }: Surroundings = {},
): Promise<Probe> {
  const trustedCertificates = trusted === undefined ? [] : [trusted];
  const tlsOptions = { trustBrowserCas: true, trustedCertificates };
  code ??= bundle("tests/runtimes/workers/probe.ts");
  const worker = await startWorker({
    code: await code,
    compatibilityFlags: ["nodejs_compat"],
    outboundService: { network: { allow, tlsOptions } },
  });
  return {
    async ask(question) {
      const body = JSON.stringify(question);
      const init = question ? { method: "POST", body } : {};
      const reply = await worker.dispatchFetch("http://worker/", init);
      const text = await reply.text();
      if (!text.startsWith("[")) throw new Error(text);
      return JSON.parse(text);
    },
    [Symbol.asyncDispose]: () => worker.dispose(),
  };
}
