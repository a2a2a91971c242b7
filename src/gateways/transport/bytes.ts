import type { Body } from './transport.ts'

/**
 * Responses are short: Google's longest refusals quote a payload of 4 KB, twice and escaped. The rest of a longer one is
 * not kept, so that no peer fills the memory.
 */
export const longestAnswer = 16 * 1024
/** Enough for the ids of all channels of an app at Apple: 10,000 of about 28 bytes. */
export const longestList = 512 * 1024

/** A body that is made already. */
export class Bytes implements Body {
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get length(): number {
    return this.#bytes.length
  }

  write(into: Buffer, at: number): void {
    into.set(this.#bytes, at)
  }
}

export const noBody: Body = new Bytes(Buffer.alloc(0))

export function bytesOfBody(body: Body): Buffer {
  const bytes = Buffer.allocUnsafe(body.length)
  body.write(bytes, 0)
  return bytes
}
