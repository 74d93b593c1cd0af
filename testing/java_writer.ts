// Strings as a real server writes them.
// Knows no record.
// Used by peer.ts. Source: BinaryOutputArchive.

import { Writer } from "../protocol/jute.ts";

const surrogate = /[\ud800-\udfff]/;
const encoder = new TextEncoder();

/** Java writes each half of a surrogate pair as if it were a character: six bytes for U+1F512, eda0bdedb492 (measured). It reads UTF-8. */
export class JavaWriter extends Writer {
  override text(value: string | null): void {
    if (value === null || !surrogate.test(value)) return super.text(value);
    const bytes = Array.from({ length: value.length }, (_, i) => {
      const unit = value.charCodeAt(i);
      if (!surrogate.test(value[i])) return [...encoder.encode(value[i])];
      return [0xe0 | unit >> 12, 0x80 | unit >> 6 & 0x3f, 0x80 | unit & 0x3f];
    });
    this.buffer(Uint8Array.from(bytes.flat()));
  }
}
