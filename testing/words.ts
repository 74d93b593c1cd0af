// Four-letter words: what a server tells about itself in plain text.
// Reads, and changes nothing; knows no connections but by what it lists of them.
// Used by engine.ts. The lines are those of a real server, whose monitoring parses them.

import type { Engine } from "./engine.ts";
import type { Peer } from "./peer.ts";
import type { Watcher } from "./watch_tables.ts";

/** The answer to a word; undefined if a server would take it for the length of a packet. */
export function answerWord(word: string, engine: Engine): string | undefined {
  return Object.hasOwn(words, word) ? words[word](engine) : undefined;
}

const words: Record<string, (engine: Engine) => string> = {
  ruok: () => "imok",
  isro: (engine) => engine.isReadOnly() ? "ro" : "rw",
  srvr: (engine) => version(engine) + summary(engine),
  stat: (engine) =>
    [
      version(engine) + "Clients:",
      ...peers(engine).map((peer) =>
        ` /${peer.line.remote}:0[1](queued=0,recved=${peer.received},sent=${peer.sent})`
      ),
      "",
      summary(engine),
    ].join("\n"),
  cons: (engine) =>
    peers(engine).map((peer) => {
      const { session: id, received, sent } = peer;
      const timeout = engine.sessions.get(id)?.timeout ?? 0;
      return ` /${peer.line.remote}:0[1](queued=0,recved=${received},` +
        `sent=${sent},sid=${hex(id)},lop=NA,to=${timeout})\n`;
    }).join("") + "\n",
  envi: ({ profile }) =>
    `Environment:\nzookeeper.version=${profile.release}-embedded, built on zklock\n`,
  mntr: (engine) =>
    Object.entries(figures(engine)).map(([key, value]) => `${key}\t${value}\n`)
      .join(""),
  wchs({ replica: { watches: { data } } }) {
    const [connections, paths] = [data.watchers().length, data.paths().length];
    return `${connections} connections watching ${paths} paths\n` +
      `Total watches:${data.size}\n`;
  },
  wchc({ replica: { watches: { data } } }) {
    return data.watchers().map((watcher) =>
      [
        hex(sessionOf(watcher)),
        ...data.pathsOf(watcher).map((path) => `\t${path}`),
      ]
        .join("\n") + "\n"
    ).join("") + "\n";
  },
  wchp({ replica: { watches: { data } } }) {
    const about = (path: string) =>
      data.watchers().filter((each) => data.pathsOf(each).includes(path))
        .map((each) => `\t${hex(sessionOf(each))}`);
    return data.paths().map((path) => [path, ...about(path)].join("\n") + "\n")
      .join("") + "\n";
  },
  dump({ sessions, replica: { tree } }) {
    const owners = tree.owners();
    return [
      "SessionTracker dump:",
      `Session Sets (${sessions.size}):`,
      ...sessions.list().map(({ id, deadline }) => `${deadline}\t${hex(id)}`),
      "ephemeral nodes dump:",
      `Sessions with Ephemerals (${owners.length}):`,
      ...owners.flatMap((id) => [
        `${hex(id)}:`,
        ...tree.ephemeralsOf(id).map((path) => `\t${path}`),
      ]),
      "",
    ].join("\n");
  },
};

function version({ profile }: Engine): string {
  return `Zookeeper version: ${profile.release}-embedded, built on zklock\n`;
}

function summary(engine: Engine): string {
  const sum = (of: (peer: Peer) => number) =>
    peers(engine).reduce((total, peer) => total + of(peer), 0);
  return [
    "Latency min/avg/max: 0/0.0/0",
    `Received: ${sum(({ received }) => received)}`,
    `Sent: ${sum(({ sent }) => sent)}`,
    `Connections: ${engine.peers.size}`,
    "Outstanding: 0",
    `Zxid: ${hex(engine.zxid)}`,
    `Mode: ${mode(engine)}`,
    `Node count: ${engine.replica.tree.size}`,
    "",
  ].join("\n");
}

function mode(engine: Engine): string {
  return engine.isReadOnly() ? "read-only" : "standalone";
}

function figures(engine: Engine): Record<string, string | number> {
  const { replica: { tree, watches } } = engine;
  return {
    zk_version: `${engine.profile.release}-embedded, built on zklock`,
    zk_server_state: mode(engine),
    zk_znode_count: tree.size,
    zk_ephemerals_count: tree.ephemeralCount,
    zk_watch_count: watches.size,
    zk_num_alive_connections: engine.peers.size,
    zk_outstanding_requests: 0,
    zk_global_sessions: engine.sessions.size,
  };
}

function peers(engine: Engine): Peer[] {
  return [...engine.peers].filter((peer) => peer.isAttached);
}

function sessionOf(watcher: Watcher): bigint {
  return (watcher as Peer).session;
}

function hex(id: bigint): string {
  return `0x${id.toString(16)}`;
}
