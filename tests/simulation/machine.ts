// A client's computer: clocks that run a little wrong, a process that may stand still, a network of its own.
// Knows no protocol; hands bytes on.
// One for each client of a simulation.

import type { Environment } from "../../protocol/environment.ts";
import type { Transport } from "../../protocol/transport/mod.ts";
import { Link, type Way } from "../../testing/network.ts";
import type { Intake, Line } from "../../testing/backend.ts";
import type { Random } from "../../testing/random.ts";
import type { World } from "./world.ts";

/** Who can be dialled. */
export interface Doors {
  /** Takes a connection, unless nobody listens there. */
  accept(host: string, line: Line): Intake | null;
}

/** How the network between a machine and the servers is. */
export interface Weather {
  /** Nothing comes through that way. */
  losesUp: boolean;
  losesDown: boolean;
  /** What did not come through is sent again when it is over, as TCP does for a while; otherwise the connection is dead for ever. */
  keeps: boolean;
  /** New connections are refused at once. */
  refuses: boolean;
  /** New connections are neither refused nor accepted. */
  hangs: boolean;
  /** Delay of one way, in ms, from and to. */
  delay: [least: number, most: number];
  /** Splits chunks at random places. */
  crumbles: boolean;
}

/** A process with its clocks and connections. */
export class Machine implements Environment {
  readonly name: string;
  readonly weather: Weather;
  /** Timers that are set. */
  timers = 0;
  /** When its clocks last jumped, in the world's time: no timer goes off for that. */
  jumpedAt = -Infinity;
  /** Most writes and dials in one second of the world. */
  busiest = 0;
  /** Chance that reading a clock finds that the process stood still just before, and for how long at most. */
  hiccups = { chance: 0, most: 0 };
  readonly #world: World;
  readonly #doors: Doors;
  readonly #random: Random;
  readonly #links = new Set<Link>();
  readonly #kept: (() => void)[] = [];
  /** The clock shows so much more, and runs so much faster, than the world's. */
  readonly #offset: number;
  /** Its clock runs so much faster than the world's. */
  readonly rate: number;
  #second = 0;
  #inSecond = 0;
  #slept = 0;
  #wasSetBack = false;
  #wallShift = 0;
  /** Stands still until then, in the world's time. */
  #standsUntil = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(
    world: World,
    name: string,
    doors: Doors,
    { rate, weather }: { rate: number; weather: Weather },
  ) {
    this.#world = world;
    this.name = name;
    this.#doors = doors;
    this.#random = world.random(`machine ${name}`);
    this.#offset = this.#random.between(0, 1_000_000);
    this.rate = rate;
    this.weather = weather;
  }

  // The clocks

  /** The time of the world at which this process is: ahead of it while it stands still. */
  get here(): number {
    return Math.max(this.#world.now, this.#standsUntil);
  }

  /** When it last stood still, in the world's time. */
  get stoodUntil(): number {
    return this.#standsUntil;
  }

  /** Whether it stands still, or has not yet dealt with what came meanwhile. */
  get isStanding(): boolean {
    return this.#standsUntil > this.#world.now || this.#waiting.length > 0;
  }

  /** What a clock shows, without anybody standing still for having looked. */
  get mono(): number {
    return this.#offset + (this.here - this.#slept) * this.rate;
  }

  monotonic(): number {
    const { chance, most } = this.hiccups;
    if (chance > 0 && this.#random.chance(chance)) {
      this.stand(this.here - this.#world.now + this.#random.fraction() * most);
    }
    return this.mono;
  }

  wall(): number {
    return 1_700_000_000_000 + this.here * this.rate + this.#wallShift;
  }

  random(bytes: Uint8Array): void {
    this.#random.fill(bytes);
  }

  after(ms: number, run: () => void): () => void {
    this.timers++;
    let isOver = false;
    const over = () => {
      if (isOver) return;
      isOver = true;
      this.timers--;
    };
    const cancel = this.#world.at(
      this.here + Math.max(0, ms) / this.rate,
      () =>
        this.run(() => {
          if (isOver) return;
          over();
          run();
        }),
    );
    return () => {
      over();
      cancel();
    };
  }

  /** The process stands still; its clocks go on. */
  stand(ms: number): void {
    this.#standsUntil = Math.max(this.#standsUntil, this.#world.now + ms);
    this.#world.at(this.#standsUntil, () => this.#wake());
  }

  /**
   * The whole machine sleeps: the monotonic clock does not go on either. If its
   * clock on the wall was set back, it only stands still: nothing could tell a
   * program of both, and no promise is made for it.
   */
  sleep(ms: number): void {
    if (this.#wasSetBack) return this.stand(ms);
    this.#slept += ms;
    this.stand(ms);
    this.jumpedAt = this.#standsUntil;
  }

  /** Somebody sets the clock on the wall; not back on a machine that slept. */
  setWall(by: number): void {
    if (by < 0 && this.#slept > 0) return;
    this.#wasSetBack ||= by < 0;
    this.#wallShift += by;
    this.jumpedAt = this.here;
  }

  /** Runs something in this process, as soon as it does not stand still. */
  run(what: () => void): void {
    if (this.isStanding) return void this.#waiting.push(what);
    this.#world.stir();
    what();
  }

  #wake(): void {
    if (this.#standsUntil > this.#world.now) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    // One at a time: what promises do between two of them is a turn of its own.
    if (this.#waiting.length > 0) {
      this.#world.at(this.#world.now, () => this.#wake());
    }
    this.#world.stir();
    next();
  }

  /** Reads clocks, or has them read, without anybody standing still for it. */
  look<T>(at: () => T): T {
    const { chance } = this.hiccups;
    this.hiccups.chance = 0;
    try {
      return at();
    } finally {
      this.hiccups.chance = chance;
    }
  }

  // The network

  /** Ends all connections, at both ends. */
  cut(): void {
    this.#world.stir();
    for (const link of [...this.#links]) link.cut();
    this.#links.clear();
  }

  readonly transport: Transport = ({ host, signal }, handlers) => {
    this.#count();
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
      if (this.weather.hangs) return;
      this.#later(this.#delay(), () => {
        if (signal.aborted) return;
        const refused = () =>
          reject(new Error(`${host} refused the connection`));
        if (this.weather.refuses) return refused();
        let isRefused = false;
        const link = new Link(
          { up: this.#way("up"), down: this.#way("down") },
          {
            data: (bytes) => handlers.data(bytes),
            close: (error) => {
              this.#links.delete(link);
              handlers.close(error);
            },
          },
          (line) => {
            const intake = this.#doors.accept(host, this.#crumbling(line));
            isRefused = intake === null;
            return intake ?? { take() {}, hungUp() {} };
          },
        );
        if (isRefused) return refused();
        this.#links.add(link);
        const { socket } = link;
        resolve({
          write: (bytes) => {
            this.#count();
            for (const piece of this.#pieces(bytes)) socket.write(piece);
          },
          close: () => socket.close(),
        });
      });
    });
  };

  #count(): void {
    const second = Math.floor(this.#world.now / 1000);
    if (second !== this.#second) this.#inSecond = 0;
    this.#second = second;
    this.#inSecond++;
    this.busiest = Math.max(this.busiest, this.#inSecond);
  }

  #later(ms: number, run: () => void): void {
    this.#world.at(this.here + ms, () => this.run(run));
  }

  /** The weather is fine again: what was kept comes through. */
  clear(): void {
    Object.assign(this.weather, { losesUp: false, losesDown: false });
    Object.assign(this.weather, { refuses: false, hangs: false });
    for (const send of this.#kept.splice(0)) send();
  }

  /** One direction of one connection: nothing overtakes. */
  #way(name: "up" | "down"): Way {
    let free = 0;
    /** Something was lost for good, or will be sent again before everything else. */
    let hole: "lost" | "kept" | undefined;
    const deliver = (run: () => void) => name === "up" ? run() : this.run(run);
    return (run) => {
      const from = name === "up" ? this.here : this.#world.now;
      free = Math.max(free, from + this.#delay());
      this.#world.at(free, () => {
        const { losesUp, losesDown, keeps } = this.weather;
        if (hole === "lost") return;
        const isLost = name === "up" ? losesUp : losesDown;
        if (isLost && hole === undefined) hole = keeps ? "kept" : "lost";
        if (!isLost && hole === undefined) return deliver(run);
        if (hole === "kept") {
          // At once, before what is on its way behind it.
          this.#kept.push(() => {
            hole = undefined;
            deliver(run);
          });
        }
      });
    };
  }

  #delay(): number {
    const [least, most] = this.weather.delay;
    return least + this.#random.fraction() * (most - least);
  }

  #crumbling(line: Line): Line {
    return {
      remote: line.remote,
      write: (bytes) => {
        for (const piece of this.#pieces(bytes)) line.write(piece);
      },
      finish: () => line.finish(),
      reset: () => line.reset(),
    };
  }

  #pieces(bytes: Uint8Array): Uint8Array[] {
    if (!this.weather.crumbles) return [bytes];
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < bytes.length;) {
      const end = Math.min(bytes.length, at + this.#random.between(1, 40));
      pieces.push(bytes.subarray(at, end));
      at = end;
    }
    return pieces;
  }
}
