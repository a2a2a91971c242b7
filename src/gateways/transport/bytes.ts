import type { Body } from './transport.ts'

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
