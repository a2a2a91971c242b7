// The frames of HTTP/2 (RFC 9113, section 6).

export const types = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9
} as const

export const flags = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const

export const codes = {
  noError: 0,
  protocol: 1,
  flowControl: 3,
  frameSize: 6,
  refusedStream: 7,
  cancel: 8,
  compression: 9,
  calm: 11
} as const

export const settings = { tableSize: 1, enablePush: 2, streams: 3, window: 4, frameSize: 5 } as const

export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')
export const headBytes = 9
export const defaultWindow = 65_535
export const largestWindow = 2 ** 31 - 1
/** Ours, and the peer's before its settings: 16 KiB. */
export const smallestFrame = 16_384

/** The peer broke a rule of the protocol: the connection ends, with this code in a GOAWAY. */
export class ProtocolFault extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** Writes a frame's head, and returns where its payload begins. */
export function writeHead(into: Buffer, at: number, length: number, type: number, flag: number, stream: number) {
  into[at] = length >>> 16
  into[at + 1] = length >>> 8
  into[at + 2] = length
  into[at + 3] = type
  into[at + 4] = flag
  into[at + 5] = stream >>> 24
  into[at + 6] = stream >>> 16
  into[at + 7] = stream >>> 8
  into[at + 8] = stream
  return at + headBytes
}

/** The number that is the whole payload of a frame. */
export function numberIn(from: Buffer, start: number, end: number): number {
  if (end - start !== 4) throw new ProtocolFault(codes.frameSize, 'a frame of another length')
  return from.readUInt32BE(start) & 0x7fffffff
}

export interface FrameEvents {
  onFrame(type: number, flag: number, stream: number, from: Buffer, start: number, end: number): void
}

/** Cuts what arrives into frames. A frame that is not complete is copied, and waits for the next bytes. */
export class FrameReader {
  readonly #events: FrameEvents
  #rest: Buffer | undefined

  constructor(events: FrameEvents) {
    this.#events = events
  }

  /** Reads the first bytes of a buffer, which is used again afterwards. */
  read(buffer: Buffer, bytes: number): void {
    const from = this.#rest ? Buffer.concat([this.#rest, buffer.subarray(0, bytes)]) : buffer
    const last = this.#rest ? from.length : bytes
    this.#rest = undefined
    let at = 0
    while (last - at >= headBytes) {
      const length = (from[at]! << 16) | (from[at + 1]! << 8) | from[at + 2]!
      if (length > smallestFrame) throw new ProtocolFault(codes.frameSize, 'a frame is too long')
      const start = at + headBytes
      const end = start + length
      if (end > last) break
      const stream = ((from[at + 5]! & 0x7f) << 24) | (from[at + 6]! << 16) | (from[at + 7]! << 8) | from[at + 8]!
      this.#events.onFrame(from[at + 3]!, from[at + 4]!, stream, from, start, end)
      at = end
    }
    if (at < last) this.#rest = Buffer.from(from.subarray(at, last))
  }
}
