// Paths of znodes: what is legal, taking apart and putting together, chroot in and out.
// Pure: knows no sessions and no records.
// Used by arguments.ts and client.ts on every path that goes out or comes in, by servers.ts and by lock/.

/** Characters no server since 3.5 takes: controls, surrogates and private use, specials. Source: PathUtils. */
// deno-lint-ignore no-control-regex
const illegal = /[\u0000-\u001f\u007f-\u009f\ud800-\uf8ff\ufff0-\uffff]/;

/**
 * Throws a TypeError unless `path` is one that a server would create.
 *
 * @param path What the caller passed; absolute, `/` for the root.
 * @param sequential Whether the server appends a number, so that a trailing `/` is fine.
 */
export function validatePath(path: string, sequential = false): void {
  const fault = typeof path !== "string"
    ? "it is not a string"
    : faultOf(sequential ? path + "1" : path);
  if (fault) {
    throw new TypeError(`Cannot use path ${JSON.stringify(path)}: ${fault}`);
  }
}

function faultOf(path: string): string | undefined {
  if (path === "") return "it is empty";
  if (path[0] !== "/") return 'it does not start with "/"';
  if (path === "/") return undefined;
  if (path.endsWith("/")) return 'it ends with "/"';
  const bad = illegal.exec(path);
  if (bad) {
    const code = bad[0].charCodeAt(0).toString(16).toUpperCase();
    return `character U+${
      code.padStart(4, "0")
    } at ${bad.index} is not allowed`;
  }
  for (const name of path.slice(1).split("/")) {
    if (name === "") return "it has an empty name";
    if (name === "." || name === "..") {
      return `it has the relative name "${name}"`;
    }
  }
  return undefined;
}

/** The path of a child. */
export function joinPath(parent: string, name: string): string {
  return parent === "/" ? `/${name}` : `${parent}/${name}`;
}

/** The path of the parent; "/" for the root's children and the root itself. */
export function parentPath(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash <= 0 ? "/" : path.slice(0, slash);
}

/** The last name in a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** A chroot as it is put in front of paths: "" for none. Throws a TypeError for a bad one. */
export function normalizeChroot(chroot: string): string {
  if (chroot === "" || chroot === "/") return "";
  validatePath(chroot);
  return chroot;
}

/** The server's name for a path of the user. */
export function addChroot(chroot: string, path: string): string {
  if (chroot === "") return path;
  return path === "/" ? chroot : chroot + path;
}

/**
 * The user's name for a path of the server. The chroot itself is "/"; what lies
 * outside (only `/zookeeper/…` can come up) is left as it is, and `/zoo` is no
 * prefix of `/zookeeper` (ZOOKEEPER-4565, ZOOKEEPER-4601).
 */
export function stripChroot(chroot: string, path: string): string {
  if (chroot === "") return path;
  if (path === chroot) return "/";
  return path.startsWith(chroot + "/") ? path.slice(chroot.length) : path;
}
