// Servers that know users by SASL: real ones with a JAAS file, and embedded ones with a table.
// Must not know what the suites do with them.
// Used by the tests in this folder.

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { ServerVersion } from "../../testing/mod.ts";
import { type Version, versions } from "../real/install.ts";
import { startServer } from "../real/server.ts";
import { embeddedTarget, type Target } from "../targets.ts";

/** Users and passwords: plain ones, those of ISO 8859-1, those beyond, and what has to be quoted. */
const users = {
  anna: "secret",
  ben: "other",
  'q"u,o=t\\e d': 'p",w=\\d ',
  gräte: "gräßlich",
  иван: "пароль",
  "mixed-ä": "пароль",
};

/** A server with users. */
export interface SaslTarget extends Target {
  users: Readonly<Record<string, string>>;
  /** Gives a user another password, and ends all connections. */
  changePassword(user: string, password: string): Promise<void>;
}

/** Whether a server serves only who has proved a user. */
export type Demand = "free" | "required";

/** An embedded server with these users. */
export async function embeddedSasl(
  version: ServerVersion,
  demand: Demand = "free",
): Promise<SaslTarget> {
  const sasl: Record<string, string> = { ...users };
  const requireSasl = demand === "required";
  const more = { sasl, requireSasl };
  const target = await embeddedTarget(version, "over TCP", more);
  return {
    ...target,
    name: `${target.name}, SASL ${demand}`,
    users,
    changePassword(user, password) {
      sasl[user] = password;
      target.embedded.cut();
      return Promise.resolve();
    },
  };
}

/** Real servers with these users, of all versions that know the demand. */
export async function realSasl(demand: Demand = "free"): Promise<SaslTarget[]> {
  const fitting = wanted().filter((version) =>
    demand === "free" || version !== "3.4.13"
  );
  return await Promise.all(fitting.map(async (version) => {
    const folder = await mkdtemp(join(tmpdir(), "zklock-jaas-"));
    const file = join(folder, "jaas.conf");
    await writeFile(file, jaas(users));
    const server = await startServer({
      version,
      jvm: [
        `-Djava.security.auth.login.config=${file}`,
        "-Dzookeeper.authProvider.1=" +
        "org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
        `-Dzookeeper.sessionRequireClientSASLAuth=${demand === "required"}`,
      ],
    });
    // It is read when the server starts, and at no other time.
    await rm(folder, { recursive: true });
    return {
      name: `ZooKeeper ${version}, SASL ${demand}`,
      version,
      servers: server.servers,
      isOurs: true,
      server,
      users,
      async changePassword(user: string, password: string) {
        await mkdir(folder);
        await writeFile(file, jaas({ ...users, [user]: password }));
        await server.restart();
        await rm(folder, { recursive: true });
      },
    };
  }));
}

/** Those of ZKLOCK_VERSIONS, or all: a server that is given has no users of ours. */
function wanted(): readonly Version[] {
  const list = process.env.ZKLOCK_VERSIONS ?? "";
  return versions.filter((version) => list === "" || list.includes(version));
}

/** The file that DigestLoginModule takes its users from. */
function jaas(users: Readonly<Record<string, string>>): string {
  const quoted = (text: string) => `"${text.replace(/["\\]/g, "\\$&")}"`;
  const lines = Object.entries(users)
    .map(([user, password]) =>
      `  ${quoted(`user_${user}`)}=${quoted(password)}`
    );
  return `Server {
  org.apache.zookeeper.server.auth.DigestLoginModule required
${lines.join("\n")};
};
`;
}
