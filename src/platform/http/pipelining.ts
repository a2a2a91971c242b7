import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Direct } from './direct/direct.ts'
import { createPlainReader, type Handle, type PlainConnection, type PlainReader } from './plain/reader.ts'

/** With this many waiting requests, nothing more is parsed from a connection until half of them are done. */
const mostWaiting = 16
/** The first bytes that a connection may have parsed in a turn: some 50 of the shortest requests, which take 0.5 ms. */
const pieceBytes = 1024
/** Pieces that are parsed in one turn, for all connections together. */
const piecesOfTurn = { alone: 32, shared: 16 }

/** The requests of one connection: one in progress, the others waiting behind it. */
interface Line {
  current: ServerResponse | undefined
  waiting: { request: IncomingMessage; response: ServerResponse }[]
}

type Parse = (this: Socket, chunk: Buffer) => void

const line = Symbol('requests in line')
const project = Symbol('the project of the last request')
/** The name under which a paused connection waits: its project may become known meanwhile. */
const waitsAs = Symbol('in the line of')
type Lined = Socket & { [line]?: Line; [project]?: string; [waitsAs]?: string | undefined }

/** From now on the connection is read in its project's turn: connections of a busy project wait for each other. */
export function readInTurnOf(socket: Lined, projectId: string): void {
  socket[project] = projectId
}

/**
 * Gives each connection a share of a turn, whether or not its caller is known. Requests that a client sends ahead run
 * one after the other, one in a turn, and a chunk full of them is parsed piece by piece. Node would start all requests
 * of a chunk of 64 KiB at once, some 3,600 of the shortest, and order only the responses: a DELETE, which has no body
 * to wait for, would overtake the POST before it.
 */
export function takeTurns(server: Server, own: boolean, isShared: () => boolean, direct: Direct): PlainReader {
  const [handle] = server.listeners('request') as [Handle]
  server.off('request', handle)
  server.on('request', (request: IncomingMessage, response: ServerResponse) => enter(request, response, handle))
  const [attachParser] = server.listeners('connection') as [(socket: Socket) => void]
  server.off('connection', attachParser)
  const plain = createPlainReader(server, handle, undefined, direct)
  const read = createReading((socket) => attachParser.call(server, socket), isShared)
  server.on('connection', (socket: Socket) => read(socket, own ? plain.open(socket) : undefined))
  return plain
}

function enter(request: IncomingMessage, response: ServerResponse, handle: Handle): void {
  const socket = request.socket as Lined
  const own: Line = socket[line] ?? { current: undefined, waiting: [] }
  socket[line] = own
  if (own.waiting.length === 0 && (!own.current || isOver(own.current))) {
    own.current = response
    handle(request, response)
    return
  }
  // Most connections send nothing ahead, so they get no listener.
  if (own.waiting.push({ request, response }) === 1) own.current!.once('close', () => advance(socket, own, handle))
}

const isOver = (response: ServerResponse): boolean => response.writableFinished || response.destroyed

/** Starts the next request of a connection in a separate turn, after other connections were read. */
function advance(socket: Socket, own: Line, handle: Handle): void {
  setImmediate(() => {
    const next = own.waiting.shift()
    if (!next || socket.destroyed) return
    own.current = next.response
    if (own.waiting.length > 0) next.response.once('close', () => advance(socket, own, handle))
    if (own.waiting.length <= mostWaiting / 2 && socket.isPaused()) socket.resume()
    handle(next.request, next.response)
  })
}

const isFull = (socket: Lined): boolean => (socket[line]?.waiting.length ?? 0) >= mostWaiting

/**
 * Feeds Node's parser piece by piece. The rest of a chunk, or data that arrives in a full turn, returns to its socket,
 * which is paused until its turn comes: projects take turns, and within a project the first socket comes first. A turn
 * is limited by a count and not by time, so that it does not shrink when the system gives the processor to other
 * programs.
 */
function createReading(attachParser: (socket: Socket) => void, isShared: () => boolean) {
  /** Paused sockets by project; those whose project is not known yet share the name ''. */
  const late = new Map<string, Set<Lined>>()
  let pieces = 0
  let mostPieces = piecesOfTurn.alone
  /** Projects that had a piece in this turn. */
  const served = new Set<string>()
  let scheduled = false

  function postpone(socket: Lined): void {
    const name = socket[project] ?? ''
    socket[waitsAs] = name
    const waiting = late.get(name)
    if (waiting) waiting.add(socket)
    else late.set(name, new Set([socket]))
  }

  function forget(socket: Lined): void {
    const name = socket[waitsAs]
    if (name === undefined) return
    const waiting = late.get(name)
    if (waiting?.delete(socket) && waiting.size === 0) late.delete(name)
  }

  function nextTurn(): void {
    scheduled = false
    pieces = 0
    served.clear()
    for (let resumed = 0; resumed < mostPieces && late.size > 0; resumed += 1) {
      const [name, waiting] = late.entries().next().value!
      const socket = waiting.values().next().value!
      waiting.delete(socket)
      socket[waitsAs] = undefined
      // The project moves to the end of the line, or leaves it.
      late.delete(name)
      if (waiting.size > 0) late.set(name, waiting)
      socket.resume()
    }
    if (late.size > 0) schedule()
  }

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    mostPieces = isShared() ? piecesOfTurn.shared : piecesOfTurn.alone
    setImmediate(nextTurn)
  }

  return (socket: Lined, opened: PlainConnection | undefined): void => {
    let plain = opened
    let parse: Parse | undefined
    const leaveToNode = (): void => {
      plain?.leave()
      plain = undefined
      socket.off('data', onData)
      attachParser(socket)
      parse = (socket.listeners('data') as [Parse])[0]
      socket.off('data', parse)
      socket.on('data', onData)
    }
    const onData = (chunk: Buffer): void => {
      schedule()
      let at = 0
      let piece = pieceBytes
      // After the last response, or after bytes that are not HTTP, the rest is useless.
      while (at < chunk.length && !socket.destroyed && !socket.writableEnded) {
        const full = plain ? plain.isBusy() : isFull(socket)
        const name = socket[project] ?? ''
        // The first piece of a project in a turn does not wait for the others.
        const most = served.has(name) ? mostPieces : 2 * piecesOfTurn.alone
        if (full || pieces >= most) {
          socket.pause()
          socket.unshift(chunk.subarray(at))
          if (!full) postpone(socket)
          return
        }
        pieces += 1
        served.add(name)
        if (plain?.take(chunk)) return
        if (!parse) leaveToNode()
        parse!.call(socket, chunk.subarray(at, at + piece))
        at += piece
        // A body does not start new requests, so its pieces may grow.
        piece *= 2
      }
    }
    socket.on('close', () => forget(socket))
    if (plain) socket.on('data', onData)
    else leaveToNode()
  }
}
