import type { ZlibOptions } from 'node:zlib'
import { gunzip, inflate } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import { Refusal } from '../../errors.ts'
import { inUnits } from '../../fields.ts'
import type { Room } from './room.ts'

type Decode = (body: Buffer, options: ZlibOptions, done: (error: Error | null, decoded: Buffer) => void) => void
const decoders = new Map<string, Decode>([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', inflate]
])

/** The encoding that a body is compressed with; undefined if it is not compressed. */
export function encodingOf(request: FastifyRequest): string | undefined {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase()
  return encoding === '' || encoding === 'identity' ? undefined : encoding
}

const unknownEncoding = () =>
  new Refusal('unsupported_media_type', 'The content encoding must be gzip or deflate, or the body sent as it is.')

/** JSON is seldom compressed further than to this part of it. */
const usualRatio = 16
const leastRoom = 64 * 1024

/**
 * Decompresses a body off the main thread. The limit of the route applies to the decompressed bytes, and decompression
 * ends there: a few bytes may expand to gigabytes. The body keeps its room until `freeRoom`.
 */
export async function decoded(room: Room, request: FastifyRequest, body: Buffer, encoding: string): Promise<Buffer> {
  const decode = decoders.get(encoding)
  if (!decode) throw unknownEncoding()
  const { bodyLimit } = request.routeOptions
  const usually = Math.min(bodyLimit, Math.max(leastRoom, usualRatio * body.length))
  const plain = await decodedWithin(usually)
  if (plain !== tooLarge) return plain
  freeRoom(request)
  const whole = usually < bodyLimit ? await decodedWithin(bodyLimit) : tooLarge
  if (whole !== tooLarge) return whole
  throw new Refusal('body_too_large', `The body is larger than ${inUnits(bodyLimit)} when it is decompressed.`)

  async function decodedWithin(bytes: number): Promise<Buffer | typeof tooLarge> {
    hold(request, await room.take(callerOf(request), bytes))
    return new Promise((resolve, reject) => {
      decode!(body, { maxOutputLength: bytes }, (error, plain) => {
        if (!error) resolve(plain)
        else if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') resolve(tooLarge)
        else reject(new Refusal('malformed_body', `the body is not ${encoding}`))
      })
    })
  }
}

const tooLarge = Symbol('too large')

/** Intake has no caller before its body is read. */
function callerOf({ caller, ip }: FastifyRequest): string {
  const { project } = (caller ?? {}) as { project?: { id: string } }
  return project?.id ?? ip
}

const held = Symbol('room of the body')
type Holding = FastifyRequest & { [held]?: (() => void) | undefined }

/** A client that goes away gets no response, so the end of its connection frees the room too. */
function hold(request: Holding, free: () => void): void {
  const { socket } = request.raw
  const end = () => {
    socket.off('close', end)
    free()
  }
  socket.once('close', end)
  request[held] = end
  if (socket.destroyed) end()
}

/** At the end of a request. */
export function freeRoom(request: Holding): void {
  request[held]?.()
  request[held] = undefined
}
