import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Refusal } from '../errors.ts'
import { readJson } from '../json/names.ts'
import { faultIn, mayHideText } from '../json/storable.ts'
import { decoded, encodingOf } from './bodies/encodings.ts'
import { createRoom } from './bodies/room.ts'
import { type Size, sizeOf } from './json/count.ts'
import { mostAtOnce, readInSlices, Unreadable } from './json/read.ts'
import type { Wanted } from './schema.ts'

/** How a route takes a body. `ignored`: it is not read; `stream`: the handler reads it; `bytes`: as a buffer. */
export type BodyKind = 'json' | 'optional' | 'ignored' | 'stream' | 'bytes'

export const jsonType = /^application\/(?:[\w.-]+\+)?json\s*(?:;\s*charset="?utf-?8"?\s*)?$/i
/** Types that clients send by default: none at all, the form type of `curl -d`, the text type of `fetch`. */
const unaskedType = /^(?:application\/x-www-form-urlencoded|text\/plain)?\s*(?:;\s*charset="?utf-?8"?\s*)?$/i

/**
 * One parser for every type: routes differ in what an empty body or a wrong type means, and Fastify's own parser
 * rejects the property names `__proto__` and `constructor`, which are ordinary here (decision 0007).
 */
export function installBodyParser(app: FastifyInstance): void {
  const room = createRoom()
  app.removeAllContentTypeParsers()
  // The catch-all would suffice, but Fastify finds a parser by its exact type faster.
  for (const type of ['application/json', '*']) {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, (request: FastifyRequest, body: Buffer, done) => {
      const encoding = encodingOf(request)
      if (encoding === undefined || body.length === 0) return readBody(request, body, done)
      decoded(room, request, body, encoding).then(
        (plain) => readBody(request, plain, done),
        (error: Refusal) => done(isUnreadable(request, error) ? null : error)
      )
    })
  }
  app.addContentTypeParser('application/x-ndjson', (request, payload, done) => {
    const { config } = request.routeOptions
    // On all other routes it is a wrong type: a route that expects JSON must not get a stream.
    if (!config.stream) return done(wrongType())
    if (encodingOf(request) !== undefined) return done(compressedStream())
    done(null, payload)
  })
}

type Done = (error: Error | null, value?: unknown) => void

/** Gives the body to `done` as the route takes it: as bytes, or as the value of its JSON. */
export function readBody(request: FastifyRequest, body: Buffer, done: Done): void {
  const { bytes: asBytes, wording, mostValues, wanted } = request.routeOptions.config
  // The protocol of a route that takes bytes defines its own error for an unreadable body.
  if (asBytes) return void done(null, body)
  try {
    ;(request as Read)[bytes] = body
    // Contract A.2: the contract's own endpoints, those with a fixed text, also read JSON under the default types of
    // clients.
    const type = request.headers['content-type'] ?? ''
    if (body.length > 0 && !(jsonType.test(type) || (wording?.invalid !== undefined && unaskedType.test(type))))
      throw wrongType(type)
    const value = parseJson(body, mostValues, wanted)
    if (value instanceof Promise) value.then((found) => done(null, found), done)
    else done(null, value)
  } catch (error) {
    done(error as Error)
  }
}

/** Whether a route that takes bytes gets an empty body, so that it reports an unreadable one in its own words. */
const isUnreadable = (request: FastifyRequest, { code }: Refusal): boolean =>
  code === 'malformed_body' && request.routeOptions.config.bytes === true

const compressedStream = () =>
  new Refusal('unsupported_media_type', 'Lines are taken as they are: send them without a content encoding.')

const wrongType = (type = '') =>
  new Refusal(
    'unsupported_media_type',
    jsonType.test(type.split(';')[0]!)
      ? 'JSON is read as UTF-8: leave out parameters of the content type.'
      : 'The content type must be application/json.'
  )

/** Stored on the request itself: a WeakMap of all requests slows down every garbage collection. */
const bytes = Symbol('bytes of the body')
type Read = FastifyRequest & { [bytes]?: Buffer }

/** SHA-256 of the body, byte for byte; of a compressed body, after decompression. */
export const fingerprintOf = (request: FastifyRequest): string => hash('sha256', (request as Read)[bytes] ?? '', 'hex')

/** Hides the body from Fastify: DELETE accepts any and reads none. Node discards the bytes that arrive. */
export function forgetBody(request: FastifyRequest): void {
  for (const name of ['content-type', 'content-length', 'content-encoding', 'transfer-encoding'])
    delete request.raw.headers[name]
}

/** Fastify refuses a type that it cannot parse with its own text; a route that takes bytes has its own error for it. */
export function nameWrongType(request: FastifyRequest): void {
  const { headers } = request.raw
  if (!jsonType.test(headers['content-type'] ?? '')) headers['content-type'] = 'application/octet-stream'
}

/** Deeper than any real body, and not deep enough to exhaust a stack here or in PostgreSQL. */
const mostLevels = 256
/** A text of this size can be neither deep nor hold many values. */
const tinyBytes = 256

/** The default limit of values in a body (docs/decisions/0029). */
export const usualValues = 200_000

/**
 * The value of a text. A large or deep text is read in slices and returned as a promise; most are returned at once.
 * `wanted`: the schema of a route that ignores unknown fields, which are then not even built.
 */
export function parseJson(body: Buffer, most = usualValues, wanted?: Wanted): unknown {
  if (body.length === 0) return undefined
  if (!isUtf8(body)) throw new Refusal('malformed_body', 'the body is not UTF-8')
  if (body.length <= tinyBytes) return parseAtOnce(body)
  const choose = ({ levels, values }: Size): unknown => {
    if (levels <= mostLevels && values <= mostAtOnce) return parseAtOnce(body)
    if (!wanted && levels > mostLevels)
      throw new Refusal('malformed_body', `the body has more than ${mostLevels} levels`)
    if (!wanted && values > most) throw new Refusal('malformed_body', `the body has more than ${most} values`)
    return readInSlices(body, wanted, { levels: mostLevels, values: most }).catch((error: Error) => {
      throw error instanceof Unreadable ? new Refusal('malformed_body', error.message) : error
    })
  }
  const size = sizeOf(body)
  return size instanceof Promise ? size.then(choose) : choose(size)
}

function parseAtOnce(body: Buffer): unknown {
  const text = body.toString('utf8')
  let value: unknown
  try {
    value = readJson(text)
  } catch (error) {
    throw new Refusal('malformed_body', `the body is not JSON: ${(error as Error).message}`)
  }
  if (mayHideText(text) && faultIn(value, mostLevels, true, false) === 'text')
    throw new Refusal('malformed_body', 'a string holds NUL or a lone surrogate')
  return value
}
