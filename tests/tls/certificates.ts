// Certificates for tests of TLS: two authorities, and what servers and clients show; good and bad.
// Must not know who uses them. Made anew for every process, by openssl; no file of them stays.
// Called by the tests of this folder.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../real/debian.ts";

/** A certificate and its key, as PEM text. */
export interface Pair {
  cert: string;
  key: string;
}

/** All there are. */
export interface Certificates {
  /** Of the authority that signs ours. */
  ca: string;
  /** Of an authority that nobody here trusts. */
  otherCa: string;
  /** For localhost and 127.0.0.1. */
  server: Pair;
  /** For zk.example.org alone. */
  elsewhere: Pair;
  /** For localhost, until yesterday. */
  expired: Pair;
  /** For localhost, signed by itself. */
  self: Pair;
  client: Pair;
  /** A client's, signed by the other authority. */
  stranger: Pair;
  /** A client's, until yesterday. */
  formerClient: Pair;
}

const here = "DNS:localhost,IP:127.0.0.1";

// Keys of elliptic curves: they take no time to make.
const script = `
curve="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
authority() {
  openssl req -x509 $curve -keyout $1.key -out $1.pem -days 2 -subj "/CN=$1" \\
    -addext basicConstraints=critical,CA:TRUE \\
    -addext keyUsage=critical,keyCertSign,cRLSign
}
leaf() {
  openssl req $curve -keyout $1.key -out $1.csr -subj "/CN=$1"
  printf "basicConstraints=CA:FALSE\\nsubjectAltName=$3\\nextendedKeyUsage=serverAuth,clientAuth\\n" >$1.ext
  openssl x509 -req -in $1.csr -CA $2.pem -CAkey $2.key -CAcreateserial \\
    -out $1.pem -extfile $1.ext -days $4
}
authority ca; authority other
leaf server ca "${here}" 2
leaf elsewhere ca DNS:zk.example.org 2
leaf expired ca "${here}" -1
leaf client ca DNS:client 2
leaf stranger other DNS:client 2
leaf formerClient ca DNS:client -1
openssl req -x509 $curve -keyout self.key -out self.pem -days 2 \\
  -subj /CN=localhost -addext "subjectAltName=${here}"
`;

let made: Promise<Certificates> | undefined;

/** Makes them at the first call. */
export function certificates(): Promise<Certificates> {
  return made ??= make();
}

async function make(): Promise<Certificates> {
  await findOpenssl();
  const folder = mkdtempSync(join(tmpdir(), "zklock-certificates-"));
  try {
    await run("sh", ["-e", "-c", script], folder, "openssl");
    return readAll(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readAll(folder: string): Certificates {
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  const pair = (name: string): Pair => ({
    cert: read(`${name}.pem`),
    key: read(`${name}.key`),
  });
  return {
    ca: read("ca.pem"),
    otherCa: read("other.pem"),
    server: pair("server"),
    elsewhere: pair("elsewhere"),
    expired: pair("expired"),
    self: pair("self"),
    client: pair("client"),
    stranger: pair("stranger"),
    formerClient: pair("formerClient"),
  };
}

/** Most machines have it, and Java's package brings it. */
async function findOpenssl(): Promise<void> {
  await run(
    "sh",
    [
      "-c",
      "command -v openssl || " +
      "{ apt-get update && apt-get install -y --no-install-recommends openssl; }",
    ],
    "/",
    "apt-get",
  );
}
