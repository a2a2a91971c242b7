import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** From so many waiting requests on nothing more is parsed of a connection, until half of them are done. */
const mostWaiting = 16
/** The first bytes of a connection in a turn: some 50 of the shortest requests, which take 0.5 ms to parse. */
const pieceBytes = 1024
/** Pieces that are parsed in one turn, of all connections together. */
const piecesOfTurn = 32

type Handle = (request: IncomingMessage, response: ServerResponse) => void

/** The requests of one connection: one under way, others behind it. */
interface Line {
  current: ServerResponse | undefined
  waiting: { request: IncomingMessage; response: ServerResponse }[]
}

const line = Symbol('requests in line')
const project = Symbol('the project of the last request')
/** The name under which a paused connection waits: its project may become known meanwhile. */
const waitsAs = Symbol('in the line of')
type Lined = Socket & { [line]?: Line; [project]?: string; [waitsAs]?: string | undefined }

/** From now on the connection is read when its project has its turn: connections of a busy project wait for each other. */
export function readInTurnOf(socket: Lined, projectId: string): void {
  socket[project] = projectId
}

/**
 * Gives each connection a share of a turn, account or none: requests that a client sends ahead are done one after the
 * other, one in a turn, and a chunk full of them is parsed piece by piece. Node would hand out all requests of a chunk of
 * 64 KiB at once, some 3,600 of the shortest, and order only the responses: a DELETE, which has no body to wait for,
 * would overtake the POST before it.
 */
export function takeTurns(server: Server): void {
  const [handle] = server.listeners('request') as [Handle]
  server.off('request', handle)
  server.on('request', (request: IncomingMessage, response: ServerResponse) => enter(request, response, handle))
  const readInTurns = createReading()
  server.on('connection', (socket: Socket) => readInTurns(socket))
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
  // Most connections send nothing ahead, and no listener is made for them.
  if (own.waiting.push({ request, response }) === 1) own.current!.once('close', () => advance(socket, own, handle))
}

const isOver = (response: ServerResponse): boolean => response.writableFinished || response.destroyed

/** Begins the next request of a connection in a turn of its own, after other connections were read. */
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
 * Feeds Node's parser by pieces. What is left of a chunk, or came when the turn had its fill, goes back to its socket,
 * which is paused until its turn comes: projects by turns, and first come, first served within a project. A turn is counted
 * and not timed, so that it does not shrink where the system gives the processor to others.
 */
function createReading() {
  /** Paused sockets by project; those whose project is not known yet share the name ''. */
  const late = new Map<string, Set<Lined>>()
  let pieces = 0
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
    for (let resumed = 0; resumed < piecesOfTurn && late.size > 0; resumed += 1) {
      const [name, waiting] = late.entries().next().value!
      const socket = waiting.values().next().value!
      waiting.delete(socket)
      socket[waitsAs] = undefined
      // The project goes to the end of the line, or out of it.
      late.delete(name)
      if (waiting.size > 0) late.set(name, waiting)
      socket.resume()
    }
    if (late.size > 0) schedule()
  }

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    setImmediate(nextTurn)
  }

  return (socket: Lined): void => {
    const [parse] = socket.listeners('data') as [(chunk: Buffer) => void]
    if (!parse) return
    socket.off('data', parse)
    socket.on('close', () => forget(socket))
    socket.on('data', (chunk: Buffer) => {
      schedule()
      let at = 0
      let piece = pieceBytes
      // Behind the last response, or the refusal of what is no HTTP, nothing is of use.
      while (at < chunk.length && !socket.destroyed && !socket.writableEnded) {
        const full = isFull(socket)
        const name = socket[project] ?? ''
        // The first piece of a project in a turn does not wait for the others.
        const most = served.has(name) ? piecesOfTurn : 2 * piecesOfTurn
        if (full || pieces >= most) {
          socket.pause()
          socket.unshift(chunk.subarray(at))
          if (!full) postpone(socket)
          return
        }
        pieces += 1
        served.add(name)
        parse.call(socket, chunk.subarray(at, at + piece))
        at += piece
        // A body is no request after the other: its pieces grow.
        piece *= 2
      }
    })
  }
}
