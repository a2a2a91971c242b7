import type { TLSSocket } from 'node:tls'
import { steadyMs } from '../../../platform/time.ts'
import type { ConnectionEvents, Ending, H2Connection, Request, Requester } from '../transport.ts'
import { HeaderBlocks } from './blocks.ts'
import {
  codes,
  defaultWindow,
  type FrameEvents,
  FrameReader,
  flags,
  numberIn,
  ProtocolFault,
  settings,
  types
} from './frames.ts'
import { HeaderFault, type Headers } from './hpack-decoder.ts'
import { Outgoing } from './outgoing.ts'
import { Queue, refuse } from './queue.ts'
import { Stream } from './streams.ts'
import { FrameWriter } from './writer.ts'

const sweepMs = 50
/** A connection that the peer or we have ended is cut after this time. */
const lastWordsMs = 1_000
/** A peer says once or twice that it goes. Each time looks at all streams. */
const mostGoaways = 16
const lastStreamId = 2 ** 31 - 1
/** A peer that sends PINGs and settings, and reads none of our responses to them, would fill the memory. */
const mostWaiting = 8 * 1024 * 1024
/** Room for 2,000 responses of 4 KiB that are all incomplete. */
const mostKept = 8 * 1024 * 1024
/** The window that we give the peer for all responses together; it is renewed when half of it is used. */
const ownWindow = 16 * 1024 * 1024

const noData = Buffer.alloc(8)

/** HTTP/2 over one TLS socket, as much of it as a client needs that sends short requests and reads short responses. */
export class FramedConnection implements H2Connection, FrameEvents {
  readonly #socket: TLSSocket
  readonly #events: ConnectionEvents
  readonly #writer: FrameWriter
  readonly #outgoing: Outgoing
  readonly #reader = new FrameReader(this)
  readonly #blocks = new HeaderBlocks(this)
  readonly #streams = new Map<number, Stream>()
  readonly #queue = new Queue()
  readonly #pings: (() => void)[] = []
  readonly #ready: () => void
  #isReady = false
  #state: H2Connection['state'] = 'ready'
  #why = 'the connection was closed'
  #nextId = 1
  #limit = Number.MAX_SAFE_INTEGER
  /** Bytes of responses since the last window update. */
  #taken = 0
  /** Bytes of responses that have not ended. */
  #kept = 0
  #goaways = 0
  #sweeper: NodeJS.Timeout | undefined
  #cutter: NodeJS.Timeout | undefined
  /** No request has an earlier deadline: nothing need be swept before. */
  #earliest = Number.POSITIVE_INFINITY
  /** The rule that the peer broke. */
  fault: string | undefined

  /** `ready` is called when the peer has sent its settings. */
  constructor(socket: TLSSocket, events: ConnectionEvents, authority: string, ready: () => void) {
    this.#socket = socket
    this.#events = events
    this.#ready = ready
    this.#writer = new FrameWriter(socket, authority)
    this.#outgoing = new Outgoing(this.#writer)
    socket.on('error', (error) => {
      this.#why = error.message
    })
    socket.on('close', () => this.#closed())
    this.#writer.greet()
    this.#writer.number(types.windowUpdate, 0, ownWindow - defaultWindow)
  }

  get state(): H2Connection['state'] {
    return this.#state
  }

  get open(): number {
    return this.#streams.size + this.#queue.size
  }

  get limit(): number {
    return this.#limit
  }

  request(request: Request, deadlineAt: number, requester: Requester) {
    const most = this.#writer.measure(request)
    if (this.#state !== 'ready') return refuse(requester)
    this.#sweeper ??= setInterval(() => this.#sweep(), sweepMs)
    if (deadlineAt < this.#earliest) this.#earliest = deadlineAt
    if (this.#streams.size >= this.#limit) this.#queue.add({ request, deadlineAt, requester })
    else this.#start(request, most, deadlineAt, requester)
  }

  ping(done: () => void): boolean {
    if (this.#state === 'closed' || this.#socket.destroyed) return false
    this.#pings.push(done)
    this.#writer.frame(types.ping, 0, noData, 0, 8)
    return true
  }

  drain(): void {
    this.#startDraining('drained')
    this.#endIfIdle()
  }

  close(reason: string): void {
    this.#why = reason
    this.#startDraining(reason)
    this.#socket.destroy()
  }

  /** Bytes that arrived, at the beginning of a buffer that is used again afterwards. */
  read(buffer: Buffer, bytes: number): void {
    if (this.#state === 'closed') return
    try {
      this.#reader.read(buffer, bytes)
    } catch (error) {
      this.#fault(error as Error)
    }
  }

  onFrame(type: number, flag: number, id: number, from: Buffer, start: number, end: number) {
    if (!this.#isReady && type !== types.settings) throw new ProtocolFault(codes.protocol, 'no settings come first')
    const { openFor } = this.#blocks
    if (openFor !== undefined && (type !== types.continuation || id !== openFor))
      throw new ProtocolFault(codes.protocol, 'a header block is interrupted')
    switch (type) {
      case types.data:
        return this.#onData(flag, id, from, start, end)
      case types.headers:
        if (id % 2 === 0 || id >= this.#nextId) throw new ProtocolFault(codes.protocol, 'a response to no request')
        return this.#blocks.begin(flag, id, from, start, end, this.#streams.get(id)?.isBare ?? false)
      case types.continuation:
        return this.#blocks.continue(flag, from, start, end)
      case types.rstStream:
        return this.#onReset(id, numberIn(from, start, end))
      case types.settings:
        return this.#onSettings(flag, from, start, end)
      case types.ping:
        return this.#onPing(flag, from, start, end)
      case types.goaway:
        return this.#onGoaway(from, start, end)
      case types.windowUpdate:
        return this.#onWindowUpdate(id, numberIn(from, start, end))
      case types.pushPromise:
        throw new ProtocolFault(codes.protocol, 'a pushed response, although we refuse them')
      // Priorities concern servers only, and frames of unknown kinds are ignored (RFC 9113, 4.1).
    }
  }

  onHeaders(id: number, headers: Headers, isLast: boolean) {
    const stream = this.#streams.get(id)
    if (!stream) return
    const { kept } = stream
    if (!stream.head(headers, isLast))
      return this.#reset(stream, codes.protocol, { kind: 'lost', message: 'no response' })
    if (isLast) this.#answered(stream)
    else this.#keep(stream.kept - kept)
  }

  #start(request: Request, most: number, deadlineAt: number, requester: Requester): void {
    const id = this.#nextId
    this.#nextId += 2
    const stream = new Stream(id, deadlineAt, requester, request)
    this.#streams.set(id, stream)
    this.#outgoing.start(stream, request, most)
    if (this.#nextId > lastStreamId) this.#startDraining('all stream numbers are used')
  }

  #onData(flag: number, id: number, from: Buffer, start: number, end: number) {
    if (id === 0 || id >= this.#nextId) throw new ProtocolFault(codes.protocol, 'a body of no response')
    const padding = flag & flags.padded ? from[start]! : 0
    const first = start + (flag & flags.padded ? 1 : 0)
    if (first > end || first > end - padding) throw new ProtocolFault(codes.protocol, 'too much padding')
    this.#taken += end - start
    if (this.#taken > ownWindow / 2) {
      this.#writer.number(types.windowUpdate, 0, this.#taken)
      this.#taken = 0
    }
    const stream = this.#streams.get(id)
    if (!stream) return
    const isLast = (flag & flags.endStream) !== 0
    const { kept } = stream
    if (!stream.data(from, first, end - padding, isLast))
      return this.#reset(stream, codes.protocol, { kind: 'lost', message: 'a body without headers' })
    this.#keep(stream.kept - kept)
    if (isLast) return this.#answered(stream)
    const granted = stream.grants(end - start)
    if (granted > 0) this.#writer.number(types.windowUpdate, id, granted)
  }

  #keep(bytes: number): void {
    this.#kept += bytes
    if (this.#kept > mostKept) throw new ProtocolFault(codes.calm, 'too many responses without an end')
  }

  #onReset(id: number, code: number): void {
    if (id === 0 || id >= this.#nextId) throw new ProtocolFault(codes.protocol, 'a reset of no request')
    const stream = this.#streams.get(id)
    if (stream) this.#settle(stream, stream.unfinished(code, this.#why))
  }

  #onSettings(flag: number, from: Buffer, start: number, end: number): void {
    if (flag & flags.ack) return
    if ((end - start) % 6 !== 0) throw new ProtocolFault(codes.frameSize, 'settings of an odd length')
    const limit = this.#limit
    for (let at = start; at < end; at += 6) this.#set(from.readUInt16BE(at), from.readUInt32BE(at + 2))
    this.#acknowledge(types.settings, from, start, start)
    if (!this.#isReady) {
      this.#isReady = true
      this.#ready()
    } else if (this.#limit !== limit) this.#events.onLimit()
    this.#startQueued()
  }

  #set(name: number, value: number): void {
    if (name === settings.tableSize) this.#writer.limitTable(value)
    else if (name === settings.streams) this.#limit = value
    else if (name === settings.frameSize) this.#outgoing.frameSize = value
    else if (name === settings.window) this.#outgoing.resize(value)
  }

  #onPing(flag: number, from: Buffer, start: number, end: number): void {
    if (end - start !== 8) throw new ProtocolFault(codes.frameSize, 'a PING of another length')
    if (flag & flags.ack) this.#pings.shift()?.()
    else this.#acknowledge(types.ping, from, start, end)
  }

  #acknowledge(type: number, from: Buffer, start: number, end: number): void {
    if (this.#writer.waiting > mostWaiting) throw new ProtocolFault(codes.calm, 'the peer does not read')
    this.#writer.frame(type, flags.ack, from, start, end)
  }

  #onGoaway(from: Buffer, start: number, end: number): void {
    if (end - start < 8) throw new ProtocolFault(codes.frameSize, 'a GOAWAY is too short')
    this.#goaways += 1
    if (this.#goaways > mostGoaways) throw new ProtocolFault(codes.calm, 'too many GOAWAYs')
    const last = from.readUInt32BE(start) & 0x7fffffff
    const code = from.readUInt32BE(start + 4)
    const text = from.toString('latin1', start + 8, Math.min(end, start + 208))
    this.#why = `GOAWAY ${code}${text && ` ${text}`}`
    this.#startDraining(this.#why)
    for (const stream of this.#streams.values()) if (stream.id > last) this.#settle(stream, { kind: 'refused' })
    // After an error, responses that are under way still count, but the peer may send none and not close.
    if (code !== codes.noError) this.#cutSoon()
    this.#endIfIdle()
  }

  #onWindowUpdate(id: number, by: number): void {
    const stream = this.#streams.get(id)
    if (id === 0) this.#outgoing.grow(by)
    else if (stream && !this.#outgoing.growStream(stream, by))
      this.#reset(stream, codes.flowControl, { kind: 'lost', message: 'a wrong window' })
  }

  #answered(stream: Stream): void {
    // A response that comes before the whole request: the peer does not want the rest.
    if (stream.unsent) this.#writer.number(types.rstStream, stream.id, codes.cancel)
    this.#settle(stream, stream.status ? stream.answer() : { kind: 'lost', message: 'an empty response' })
  }

  #reset(stream: Stream, code: number, ending: Ending): void {
    this.#writer.number(types.rstStream, stream.id, code)
    this.#settle(stream, ending)
  }

  #settle(stream: Stream, ending: Ending): void {
    if (!this.#streams.delete(stream.id)) return
    this.#outgoing.forget(stream)
    this.#kept -= stream.kept
    this.#startQueued()
    if (this.#streams.size === 0 && this.#state === 'draining') this.#endIfIdle()
    stream.requester.ended(ending)
  }

  #startQueued(): void {
    if (this.#queue.size === 0) return
    const now = steadyMs()
    while (this.#streams.size < this.#limit && this.#nextId <= lastStreamId) {
      const next = this.#queue.take(now)
      if (!next) return
      this.#start(next.request, this.#writer.measure(next.request), next.deadlineAt, next.requester)
    }
  }

  #startDraining(reason: string): void {
    if (this.#state !== 'ready') return
    this.#state = 'draining'
    this.#queue.endAll()
    if (this.#isReady) this.#events.onDraining(reason)
  }

  #endIfIdle(): void {
    if (this.#streams.size > 0 || this.#state !== 'draining' || this.#socket.writableEnded) return
    this.#writer.goodbye(codes.noError)
    this.#socket.end()
    // The peer may never close its side.
    this.#cutSoon()
  }

  #cutSoon(): void {
    this.#cutter ??= setTimeout(() => this.#socket.destroy(), lastWordsMs).unref()
  }

  #fault(error: Error): void {
    const code =
      error instanceof ProtocolFault ? error.code : error instanceof HeaderFault ? codes.compression : undefined
    this.fault = error.message
    this.#why = error.message
    this.#writer.goodbye(code ?? codes.protocol)
    this.#startDraining(this.#why)
    this.#socket.destroySoon()
    // A peer that does not read keeps the last words, and the socket with them.
    this.#cutSoon()
    this.#closed()
    // Any other error is a bug here.
    if (code === undefined) throw error
  }

  #closed(): void {
    if (this.#state === 'closed') return
    this.#startDraining(this.#why)
    this.#state = 'closed'
    clearInterval(this.#sweeper)
    for (const stream of this.#streams.values()) {
      this.#streams.delete(stream.id)
      this.#outgoing.forget(stream)
      stream.requester.ended(stream.unfinished(codes.cancel, this.#why))
    }
    if (this.#isReady) this.#events.onClosed()
  }

  #sweep(): void {
    const now = steadyMs()
    if (now >= this.#earliest) this.#endLate(now)
    if (this.open > 0) return
    clearInterval(this.#sweeper)
    this.#sweeper = undefined
  }

  #endLate(now: number): void {
    this.#earliest = Number.POSITIVE_INFINITY
    for (const stream of this.#streams.values())
      if (stream.deadlineAt <= now) this.#reset(stream, codes.cancel, { kind: 'timeout' })
      else this.#earliest = Math.min(this.#earliest, stream.deadlineAt)
    // A caller whose request ends here may send another one at once.
    const earliest = this.#queue.endLate(now)
    this.#earliest = Math.min(this.#earliest, earliest)
  }
}
