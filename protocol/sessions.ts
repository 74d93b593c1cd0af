// One session after the other, for as long as the client lives: asking, listening, renewal, close.
// Knows no single operation and no path.
// Kept by client.ts, whose methods all end here.

import type { Packet } from "./api.ts";
import type { StateChange, Warning } from "./news.ts";
import { Connection, type ConnectionSettings } from "./connection.ts";
import { type Environment, touched } from "./environment.ts";
import {
  type AuthFailedError,
  ClientClosedError,
  ConnectionLossError,
  ProtocolError,
  TlsError,
} from "./errors.ts";
import type { SessionKey } from "./detached.ts";
import type { Operation } from "./operations.ts";
import { goodbye } from "./pulse.ts";
import type { Question } from "./requests.ts";
import type { Host, SessionSettings } from "./host.ts";
import { SessionMachine } from "./session.ts";
import { allTlsFailures } from "./tls_failure.ts";
import { packetsOf } from "./trace.ts";
import type { Watcher, WatchEvent } from "./watches.ts";

/** What a client is made of besides its connection. */
export interface SessionsSettings extends ConnectionSettings {
  session: SessionSettings;
  /** The user's name for a path of the server. */
  inward: (path: string) => string;
  onPacket?: (packet: Packet) => void;
  /** Of a session to begin with. */
  key?: SessionKey;
}

/** The sessions of one client, and everybody who listens. */
export class Sessions {
  readonly environment: Environment;
  readonly #settings: SessionsSettings;
  readonly #connection: Connection;
  readonly #abort = new AbortController();
  readonly #stateListeners = new Set<(change: StateChange) => void>();
  readonly #warningListeners = new Set<(warning: Warning) => void>();
  readonly #attachedListeners = new Set<() => void>();
  readonly #detachListeners = new Set<(reason: ClientClosedError) => void>();
  /** Changes that not everybody has heard of. */
  readonly #changes: StateChange[] = [];
  #current: SessionMachine;
  #closing: Promise<void> | undefined;
  #isOpening = false;

  constructor(settings: SessionsSettings) {
    this.#settings = settings;
    this.environment = settings.environment;
    this.#connection = new Connection(settings);
    this.#connection.whenTlsFails = (cause) =>
      this.warn({ kind: "tls-failed", message: cause.message, cause });
    this.#current = this.#begin(settings.key);
  }

  /** The session that calls go to. */
  get current(): SessionMachine {
    return this.#current;
  }

  /** Aborts when there will be no further session. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The connection of the current session. */
  get connection(): Connection {
    return this.#connection;
  }

  /** Asks the server, in the session that is current now. */
  ask<Q, R, T>(question: Question<Q, R, T>): Promise<T> {
    return new Promise((resolve, reject) => {
      touched(this.signal).throwIfAborted();
      const { signal, map, recover } = question;
      signal?.throwIfAborted();
      const session = this.#current;
      let settled = false;
      function abort() {
        if (!question.certain || pending.encoded) session.cancel(pending);
        reject(signal!.reason);
      }
      const settle = () => {
        settled = true;
        signal?.removeEventListener("abort", abort);
      };
      const pending = session.request({
        op: question.op as Operation,
        body: question.body,
        path: question.path ?? null,
        watch: question.watch,
        resend: question.resend,
        answerWithin: question.answerWithin,
        resolve(reply, zxid) {
          settle();
          try {
            resolve(map(reply as R, zxid));
          } catch (error) {
            reject(error);
            if (error instanceof ProtocolError) throw error;
          }
        },
        reject(error) {
          settle();
          if (recover === undefined) return reject(error);
          try {
            resolve(recover(error));
          } catch (other) {
            reject(other);
          }
        },
      });
      if (!settled) signal?.addEventListener("abort", abort, { once: true });
    });
  }

  /** Resolves once a session is connected; rejects, leaving nothing, when time is up, on abort or on refusal. */
  async opened(timeout: number, signal?: AbortSignal): Promise<void> {
    let stop = () => {};
    this.#isOpening = true;
    try {
      await new Promise<void>((resolve, reject) => {
        signal?.throwIfAborted();
        const off = this.on("state", ({ state, cause }) => {
          // A refused credential shows only after the session stands.
          if (state.startsWith("connected")) {
            this.#shown().then(resolve, reject);
          } else if (state !== "disconnected") reject(cause);
        });
        const cancel = this.environment.after(timeout, () => {
          const { failures } = this.#connection;
          const why = failures.map(({ message }) => message).join("; ");
          reject(
            new ConnectionLossError("connect", null, "not-sent", {
              message: `Cannot connect within ${timeout} ms${
                why && `: ${why}`
              }`,
              cause: failures.at(-1),
            }),
          );
        });
        this.#connection.whenHopeless = (failures) =>
          reject(hopeless(failures));
        const abort = () => reject(signal!.reason);
        signal?.addEventListener("abort", abort, { once: true });
        stop = () => {
          off();
          cancel();
          signal?.removeEventListener("abort", abort);
          this.#connection.whenHopeless = () => {};
        };
      });
    } catch (error) {
      // close() has its own end.
      if (this.#closing === undefined) {
        const message = "Client closed: it never connected";
        this.#over(new ClientClosedError(message, { cause: error }));
      }
      throw error;
    } finally {
      this.#isOpening = false;
      stop();
    }
  }

  on(type: "state", listener: (change: StateChange) => void): () => void;
  on(type: "warning", listener: (warning: Warning) => void): () => void;
  on(type: "state" | "warning", listener: (news: never) => void): () => void {
    const listeners: Set<unknown> | undefined = type === "state"
      ? this.#stateListeners
      : type === "warning"
      ? this.#warningListeners
      : undefined;
    if (listeners === undefined || typeof listener !== "function") {
      throw new TypeError(`Cannot listen: not a listener of "${type}"`);
    }
    // A wrapper, so that a function given twice is called twice and removed once.
    const own = (news: never) => listener(news);
    listeners.add(own);
    return () => void listeners.delete(own);
  }

  /** Called at each (re-)attachment; what it asks for goes out before what was queued. */
  onAttached(run: () => void): () => void {
    this.#attachedListeners.add(run);
    return () => void this.#attachedListeners.delete(run);
  }

  /** Called before the session is left to somebody else. */
  onDetach(run: (reason: ClientClosedError) => void): () => void {
    this.#detachListeners.add(run);
    return () => void this.#detachListeners.delete(run);
  }

  /** Tells everybody who waits for something in this session that nobody will see to it. */
  announceDetach(reason: ClientClosedError): void {
    for (const run of [...this.#detachListeners]) run(reason);
  }

  /** Hangs up, for good; the session goes on until it expires. */
  leave(reason: ClientClosedError): void {
    this.#over(reason);
  }

  warn(warning: Warning): void {
    for (const listener of [...this.#warningListeners]) {
      try {
        listener(warning);
      } catch {
        // A listener of warnings that throws cannot be warned of.
      }
    }
  }

  /** Calls a listener of the user: what it throws becomes a warning. */
  guard(listener: () => void, path?: string): void {
    this.#guarded("listener-threw", listener, path);
  }

  keepAlive(wanted: boolean): void {
    this.#connection.keepAlive(wanted);
  }

  close(): Promise<void> {
    try {
      touched(this.signal);
    } catch (error) {
      return Promise.reject(error);
    }
    if (this.#closing === undefined) {
      let done = () => {};
      // Set before anybody is told: who is told may call close() again.
      this.#closing = new Promise((resolve) => done = resolve);
      void this.#close(new ClientClosedError()).then(done);
    }
    return this.#closing;
  }

  // Inside

  #begin(key?: SessionKey): SessionMachine {
    const connection = this.#connection;
    const { onPacket } = this.#settings;
    const host: Host = {
      flushSoon: () => connection.flushSoon(),
      wakeAt: (mono) => connection.wakeAt(mono),
      disconnect: (cause) => connection.disconnect(cause),
      attached: () => {
        for (const run of [...this.#attachedListeners]) run();
      },
      changed: (cause) => this.#changed(session, cause),
      ended: () => this.#ended(session),
      notify: (watchers, event) => this.#notify(watchers, event),
      traced: onPacket && ((direction, bytes) => {
        for (const packet of packetsOf(direction, bytes)) {
          this.guard(() => onPacket(packet));
        }
      }),
    };
    const session = new SessionMachine(this.#settings.session, host, key);
    connection.drive(session);
    return session;
  }

  /** Resolves when a server has taken all credentials of connect(). */
  async #shown(): Promise<void> {
    const { credentials } = this.#settings.session;
    await Promise.all(
      // Those of addAuth() have somebody who waits for them.
      credentials.filter(({ essential }) => essential).map((credential) =>
        new Promise<void>((resolve, reject) => {
          credential.settle = (error) => error ? reject(error) : resolve();
        })
      ),
    );
  }

  /** The old one is over: whoever is told of it finds a new one in its place. */
  #ended(session: SessionMachine): void {
    if (session.state !== "expired" || this.signal.aborted) return;
    // Who wanted this session does not want another.
    if (!this.#isOpening) this.#current = this.#begin();
  }

  #changed(session: SessionMachine, cause?: Error): void {
    const { state } = session;
    if (state === "auth-failed") this.#over(cause as AuthFailedError);
    this.#changes.push(cause ? { state, session, cause } : { state, session });
    // A listener may cause the next change: everybody hears of this one first.
    if (this.#changes.length > 1) return;
    for (; this.#changes.length > 0; this.#changes.shift()) {
      for (const listener of [...this.#stateListeners]) {
        if (!this.#stateListeners.has(listener)) continue;
        this.guard(() => listener(this.#changes[0]));
      }
    }
  }

  /** In a microtask: after the callers of replies that came before. */
  #notify(watchers: readonly Watcher[], event: WatchEvent): void {
    if (watchers.length === 0) return;
    const news = { ...event, path: this.#settings.inward(event.path) };
    queueMicrotask(() => {
      for (const watcher of watchers) {
        this.#guarded("watcher-threw", () => watcher(news), news.path);
      }
    });
  }

  #guarded(
    kind: "watcher-threw" | "listener-threw",
    run: () => void,
    path?: string,
  ): void {
    try {
      run();
    } catch (cause) {
      const who = kind === "watcher-threw" ? "A watcher" : "A listener";
      this.warn({ kind, message: `${who} threw: ${cause}`, path, cause });
    }
  }

  async #close(reason: ClientClosedError): Promise<void> {
    const session = this.#current;
    this.#abort.abort(reason);
    if (!session.signal.aborted) {
      await new Promise<void>((resolve) => {
        const cancel = this.environment.after(
          goodbye(session.timeout),
          resolve,
        );
        session.close(reason, () => {
          cancel();
          resolve();
        });
      });
    }
    this.#over(reason);
  }

  /** Ends everything, here and now. */
  #over(reason: ClientClosedError | AuthFailedError): void {
    if (!this.signal.aborted) this.#abort.abort(reason);
    this.#connection.stop();
    this.#current.end("closed", reason);
    for (const credential of this.#settings.session.credentials) {
      credential.settle?.(reason);
      credential.settle = undefined;
    }
  }
}

/** What connect() rejects with when no further attempt would do. */
function hopeless(failures: readonly Error[]): Error {
  const tls = failures.filter((error) => error instanceof TlsError);
  if (tls.length === failures.length) return allTlsFailures(tls);
  const forbidden = failures.filter((error) => !(error instanceof TlsError));
  const cause = forbidden.at(-1)!;
  const message = `Cannot connect: no permission: ${cause.message}`;
  return new ConnectionLossError("connect", null, "not-sent", {
    message,
    cause,
  });
}
