// What users give a client to prove who it is.
// Types only.
// Used by api.ts; options.ts checks them.

/** A credential, e.g. `{ scheme: "digest", auth: "user:password" }`. */
export interface Auth {
  /** `digest`, or another scheme the servers know. */
  scheme: string;
  /** The secret itself; text goes as UTF-8. */
  auth: string | Uint8Array;
}

/** A user of SASL DIGEST-MD5: `user_anna="secret"` in the servers' JAAS file. */
export interface SaslOptions {
  /** Name of the user. */
  user: string;
  /** The password. It is never sent, but it is known to the servers as it is. */
  password: string;
}
