// Keeps a session connected: dials one server after the other, moves bytes, runs the one timer.
// Knows nothing of requests, watches or paths.
// Made by sessions.ts, which hands it one session after the other.

import { type Environment, momentOf } from "./environment.ts";
import { ConnectionLossError, TlsError } from "./errors.ts";
import { Seeker, without } from "./seeker.ts";
import {
  type Address,
  formatAddress,
  isSameAddress,
  type ServerRing,
} from "./servers.ts";
import type { SessionMachine } from "./session.ts";
import { isTlsAlert, tlsExpected, tlsFailure } from "./tls_failure.ts";
import type { Socket, TlsOptions, Transport } from "./transport/mod.ts";

/** One attempt at one server, and the connection that came of it. */
interface Link {
  readonly address: Address;
  readonly abort: AbortController;
  /** Ends the wait for the handshake. */
  readonly attachedInTime: () => void;
  socket?: Socket;
  /** Whether anything came from the server. */
  heard?: boolean;
  /** When the session was attached. */
  readySince?: number;
}

/** Settings of a connection. */
export interface ConnectionSettings {
  ring: ServerRing;
  transport: Transport;
  environment: Environment;
  tls?: TlsOptions;
}

/** A timer that is set, and may be set again for the same time. */
interface Timer {
  /** Monotonic. */
  readonly at: number;
  readonly run: () => void;
  disarm(): void;
}

/** No attempt is given less than this, in ms. */
const shortestAttempt = 250;

/** Drives a session over whatever server can be reached. */
export class Connection {
  readonly #settings: ConnectionSettings;
  /** What servers answered "unimplemented" to, by address: asking costs the connection. */
  readonly #unsupported = new Map<string, Set<number>>();
  #session: SessionMachine | undefined;
  #link: Link | undefined;
  #keepAlive = true;
  /** All that are set, so that keepAlive() reaches them. */
  readonly #timers = new Set<Timer>();
  #flushing = false;
  /** Whom to try before all others: it is known to be better than the one before. */
  #preferred: Address | undefined;
  readonly #seeker: Seeker;
  #wake: { at: number; cancel: () => void } | undefined;
  #pause: (() => void) | undefined;
  /** Attempts since a handshake was last answered that nobody answered at all. */
  #unanswered = 0;
  /** By address, the latest one last. */
  readonly #failures = new Map<string, Error>();
  /** Called if no attempt at any server will ever do: this process may not, or TLS is at odds. Gets the failure of each, the latest one last. */
  whenHopeless: (failures: readonly Error[]) => void = () => {};
  /** Called when a server cannot be connected to by TLS, once for each reason until a server is attached. */
  whenTlsFails: (failure: TlsError) => void = () => {};

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
    this.#seeker = new Seeker(settings, (address) => {
      this.#preferred = address;
      this.disconnect(leaving(`${formatAddress(address)} can write`));
    });
  }

  /** Why the last attempt at each server failed, or its connection; the latest one last. */
  get failures(): readonly Error[] {
    return [...this.#failures.values()];
  }

  /** The server at the other end, once there is one. */
  get address(): Address | undefined {
    return this.#link?.readySince === undefined
      ? undefined
      : this.#link.address;
  }

  /** Hangs up and connects this session instead. */
  drive(session: SessionMachine): void {
    this.stop();
    this.#session = session;
    this.#dial();
  }

  /** Hangs up for good. */
  stop(): void {
    this.#session = undefined;
    this.#pause?.();
    this.#wake?.cancel();
    this.#wake = undefined;
    this.#hangUp();
  }

  /** Whether the process is to stay alive for this connection, from now on. */
  keepAlive(wanted: boolean): void {
    this.#keepAlive = wanted;
    const socket = this.#link?.socket;
    if (wanted) socket?.ref?.();
    else socket?.unref?.();
    for (const timer of this.#timers) {
      timer.disarm();
      this.#arm(timer);
    }
  }

  /** Writes what the session has to say before this turn of the event loop ends. */
  flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    queueMicrotask(() => {
      this.#flushing = false;
      const socket = this.#link?.socket;
      const bytes = socket && this.#session?.flush(this.#now());
      if (bytes) socket.write(bytes);
    });
  }

  /** Calls the session's tick() at this monotonic time, if not earlier. */
  wakeAt(at: number): void {
    if (this.#wake !== undefined) {
      if (this.#wake.at <= at) return;
      this.#wake.cancel();
    }
    const cancel = this.#at(at, () => {
      this.#wake = undefined;
      this.#session?.tick(this.#now());
    });
    this.#wake = { at, cancel };
  }

  /** Connects to one of these from now on: at once, if the server at hand is not among them. */
  useServers(addresses: readonly Address[]): void {
    this.#settings.ring.replace(addresses);
    this.#preferred = undefined;
    const names = addresses.map(formatAddress);
    for (const name of this.#failures.keys()) {
      if (!names.includes(name)) this.#failures.delete(name);
    }
    const link = this.#link;
    if (link !== undefined) {
      if (names.includes(formatAddress(link.address))) return;
      const why = `${formatAddress(link.address)} is not a server any more`;
      this.#ended(link, leaving(why));
    } else if (this.#session !== undefined) {
      this.#pause?.();
      this.#dial();
    }
  }

  /** Gives this connection up and tries the next server. */
  disconnect(cause: Error): void {
    if (this.#link !== undefined) this.#ended(this.#link, cause);
  }

  /** Runs something at this monotonic time, if that is not prevented. */
  #at(at: number, run: () => void): () => void {
    const timer: Timer = { at, run, disarm() {} };
    this.#timers.add(timer);
    this.#arm(timer);
    return () => {
      timer.disarm();
      this.#timers.delete(timer);
    };
  }

  #arm(timer: Timer): void {
    const { environment } = this.#settings;
    const wait = Math.max(0, Math.ceil(timer.at - environment.monotonic()));
    timer.disarm = environment.after(wait, () => {
      this.#timers.delete(timer);
      timer.run();
    }, this.#keepAlive);
  }

  #now(): { mono: number; wall: number } {
    return momentOf(this.#settings.environment);
  }

  #dial(): void {
    const session = this.#session!;
    // The wall clock may say that it is over, while no timer is due yet.
    session.tick(this.#now());
    if (session !== this.#session) return;
    const { address, pause } = this.#preferred
      ? { address: this.#preferred, pause: 0 }
      : this.#settings.ring.next();
    const within = this.#attemptTime();
    const open = () => void this.#open(address, within);
    if (pause === 0) return open();
    this.#pause = this.#at(this.#now().mono + pause, open);
  }

  async #open(address: Address, within: number): Promise<void> {
    const { transport, tls } = this.#settings;
    const link: Link = {
      address,
      abort: new AbortController(),
      attachedInTime: this.#at(this.#now().mono + within, () => {
        const why = `${formatAddress(address)} did not answer in ${within} ms`;
        this.#unanswered++;
        this.#ended(link, failedToConnect(why));
      }),
    };
    this.#link = link;
    try {
      const { signal } = link.abort;
      const keepAlive = this.#keepAlive;
      const socket = await transport({ ...address, tls, signal, keepAlive }, {
        data: (bytes) => this.#received(link, bytes),
        close: (error) => this.#ended(link, error),
      });
      if (link !== this.#link) return socket.close();
      link.socket = socket;
      if (!this.#keepAlive) socket.unref?.();
      else if (!keepAlive) socket.ref?.();
      this.#session?.opened(this.#unsupportedBy(address));
    } catch (error) {
      this.#ended(link, error as Error);
    }
  }

  /**
   * Short at first, so that one dead server costs little; longer when all are
   * silent, and may just be slow. Refusals do not count: a server that starts
   * refuses, and then swallows the first handshake (measured: 3.8 lost the session
   * of a client that waited the whole timeout for its answer).
   */
  #attemptTime(): number {
    const { size } = this.#settings.ring;
    const timeout = this.#session!.timeout;
    const circle = Math.floor(this.#unanswered / size);
    const share = Math.min(1, 2 ** circle / 3);
    return Math.max(shortestAttempt, Math.round(share * timeout / size));
  }

  #received(link: Link, bytes: Uint8Array): void {
    if (link !== this.#link || this.#session === undefined) return;
    if (!link.heard && this.#settings.tls === undefined && isTlsAlert(bytes)) {
      return this.#ended(link, tlsExpected(link.address));
    }
    link.heard = true;
    this.#session.received(bytes, this.#now());
    if (link !== this.#link || link.readySince !== undefined) return;
    if (!this.#session.ready) return;
    this.#unanswered = 0;
    this.#failures.clear();
    this.#preferred = undefined;
    if (this.#session.state === "connected-read-only") {
      this.#seeker.start(() =>
        without(this.#settings.ring.addresses, link.address)
      );
    }
    link.readySince = this.#settings.environment.monotonic();
    link.attachedInTime();
  }

  #ended(link: Link, error?: Error): void {
    if (link !== this.#link) return;
    this.#hangUp();
    if (this.#preferred && isSameAddress(this.#preferred, link.address)) {
      this.#preferred = undefined;
    }
    const failure = this.#failureOf(link, error);
    const session = this.#session;
    session?.lost(failure, error === undefined || isReset(error));
    this.#failed(link.address, failure);
    // lost() may have told somebody who closed the client.
    if (session !== undefined && session === this.#session) this.#dial();
  }

  /** Why a connection ended, or did not come about, in words for people. */
  #failureOf(link: Link, error?: Error): Error {
    const { address, readySince, heard } = link;
    const { tls } = this.#settings;
    if (readySince !== undefined) return error ?? hungUp(address);
    // Whether the end comes as a FIN or as a reset is left to chance.
    if (error === undefined || link.socket && isReset(error)) {
      return turnedAway(address, heard, tls, error);
    }
    return tls ? tlsFailure(error, address, tls) : error;
  }

  #failed(address: Address, failure: Error): void {
    const name = formatAddress(address);
    const before = this.#failures.get(name);
    this.#failures.delete(name);
    this.#failures.set(name, failure);
    const { failures } = this;
    if (
      failures.length === this.#settings.ring.size &&
      failures.every(isHopeless)
    ) this.whenHopeless(failures);
    if (!(failure instanceof TlsError) || !failure.isPermanent) return;
    const known = before instanceof TlsError && before.code === failure.code;
    if (!known) this.whenTlsFails(failure);
  }

  #hangUp(): void {
    const link = this.#link;
    this.#link = undefined;
    this.#seeker.stop();
    link?.attachedInTime();
    link?.abort.abort();
    link?.socket?.close();
    if (link?.readySince === undefined) return;
    const { ring, environment } = this.#settings;
    ring.ended(environment.monotonic() - link.readySince);
  }

  #unsupportedBy(address: Address): Set<number> {
    const key = formatAddress(address);
    let known = this.#unsupported.get(key);
    if (known === undefined) this.#unsupported.set(key, known = new Set());
    return known;
  }
}

function hungUp(address: Address): ConnectionLossError {
  return new ConnectionLossError("connect", null, "unknown", {
    message: `Lost the connection: ${
      formatAddress(address)
    } closed the connection`,
  });
}

function leaving(why: string): ConnectionLossError {
  return new ConnectionLossError("connect", null, "unknown", {
    message: `Left the connection: ${why}`,
  });
}

/**
 * Before the handshake was answered. A server that is not ready does this, and so
 * does a secureClientPort that is spoken to in plain (measured: a bare FIN).
 */
function turnedAway(
  address: Address,
  heard = false,
  tls?: TlsOptions,
  cause?: Error,
): ConnectionLossError {
  const why = `${formatAddress(address)} closed the connection`;
  if (heard) return failedToConnect(why, cause);
  const else_ = tls === undefined
    ? "expects TLS"
    : tls.cert === undefined
    ? "asks for a client certificate"
    : "does not accept the client certificate";
  return failedToConnect(
    `${why} without an answer: it is not ready, or ${else_}`,
    cause,
  );
}

function isReset(error: Error): boolean {
  const { code } = error as { code?: unknown };
  return code === "ECONNRESET" || code === "EPIPE";
}

/**
 * The runtime keeps us from it: Deno without --allow-net (older: PermissionDenied;
 * where a name is looked up: EPERM, measured), Node with --permission.
 */
function isForbidden(error: Error): boolean {
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  return error.name === "NotCapable" || error.name === "PermissionDenied" ||
    code === "ERR_ACCESS_DENIED" ||
    code === "EPERM" && syscall === "getaddrinfo";
}

function isHopeless(error: Error): boolean {
  return isForbidden(error) || error instanceof TlsError && error.isPermanent;
}

function failedToConnect(why: string, cause?: Error): ConnectionLossError {
  return new ConnectionLossError("connect", null, "not-sent", {
    message: `Cannot connect: ${why}`,
    cause,
  });
}
