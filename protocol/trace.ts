// What a tracer is shown of each packet.
// Looks at headers only; knows no sessions.
// Used by sessions.ts when somebody asked for packets.

import type { Packet } from "./api.ts";
import { specialXids } from "./codes.ts";
import { operationByCode } from "./operations.ts";
import { withoutSecrets } from "./secrets.ts";

/** The packets in bytes that are sent together, or the one that came in. */
export function packetsOf(
  direction: "sent" | "received",
  bytes: Uint8Array,
): Packet[] {
  if (direction === "received") return [received(bytes.slice())];
  const packets: Packet[] = [];
  const view = viewOf(bytes);
  for (let at = 0; at < bytes.length;) {
    const end = at + 4 + view.getInt32(at);
    packets.push(sent(bytes.slice(at + 4, end)));
    at = end;
  }
  return packets;
}

function sent(whole: Uint8Array): Packet {
  const view = viewOf(whole);
  const xid = view.getInt32(0);
  // Requests count from 1, so a 0 can only be the protocol version.
  const op = xid === 0
    ? "connect"
    : operationByCode.get(view.getInt32(4))?.name ?? null;
  const bytes = withoutSecrets("sent", op, whole);
  return { direction: "sent", xid: xid === 0 ? null : xid, op, bytes };
}

function received(whole: Uint8Array): Packet {
  const xid = whole.length < 4 ? null : viewOf(whole).getInt32(0);
  const op = xid === 0 ? "connect" : xid === specialXids.event ? "event" : null;
  const bytes = withoutSecrets("received", op, whole);
  return { direction: "received", xid: xid === 0 ? null : xid, op, bytes };
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
