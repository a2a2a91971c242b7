import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Refusal } from '../errors.ts'

/** What a route does with a body. `ignored`: neither read nor looked at; `stream`: handed over unread; `bytes`: as it is. */
export type BodyKind = 'json' | 'optional' | 'ignored' | 'stream' | 'bytes'

export const jsonType = /^application\/(?:[\w.-]+\+)?json\s*(?:;\s*charset="?utf-8"?\s*)?$/i
/** Types that clients send unasked: none at all, the form type of `curl -d`, the text type of `fetch`. */
const unaskedType = /^(?:application\/x-www-form-urlencoded|text\/plain)?\s*(?:;\s*charset="?utf-8"?\s*)?$/i

/**
 * One parser for every type: routes differ in what an empty body or a wrong type means, and Fastify's own parser rejects
 * the property names `__proto__` and `constructor`, which are ordinary here (settled with the users).
 */
export function installBodyParser(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  // The catch-all would do; a parser found by its exact type is found faster.
  for (const type of ['application/json', '*']) {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, (request: FastifyRequest, body: Buffer, done) => {
      // Where the protocol has its own words for a body that cannot be read.
      if (request.routeOptions.config.bytes) return done(null, body)
      try {
        ;(request as Read)[bytes] = body
        // Settled 2: the contract's own endpoints, those with a fixed text, read JSON under the unasked types too.
        const { wording } = request.routeOptions.config
        const type = request.headers['content-type'] ?? ''
        if (body.length > 0 && !(jsonType.test(type) || (wording?.invalid !== undefined && unaskedType.test(type))))
          throw wrongType()
        done(null, parseJson(body))
      } catch (error) {
        done(error as Error)
      }
    })
  }
  app.addContentTypeParser('application/x-ndjson', ({ routeOptions: { config } }, payload, done) => {
    // Everywhere else it is a wrong type like any other: a route that expects JSON must not be given a stream for it.
    if (!config.stream) return done(wrongType())
    done(null, payload)
  })
}

const wrongType = () => new Refusal('unsupported_media_type', 'The content type must be application/json.')

/** On the request itself: a WeakMap of all of them costs at every collection of garbage. */
const bytes = Symbol('bytes of the body')
type Read = FastifyRequest & { [bytes]?: Buffer }

/** SHA-256 of the body as it came, byte for byte. */
export const fingerprintOf = (request: FastifyRequest): string => hash('sha256', (request as Read)[bytes] ?? '', 'hex')

/** Makes Fastify believe there is no body: DELETE takes any and reads none. Node discards what arrives. */
export function forgetBody(request: FastifyRequest): void {
  for (const name of ['content-type', 'content-length', 'transfer-encoding']) delete request.raw.headers[name]
}

/** Fastify refuses a type that it cannot parse, in words of its own; a route that takes bytes has its own words for it. */
export function nameWrongType(request: FastifyRequest): void {
  const { headers } = request.raw
  if (!jsonType.test(headers['content-type'] ?? '')) headers['content-type'] = 'application/octet-stream'
}

function parseJson(body: Buffer): unknown {
  if (body.length === 0) return undefined
  if (!isUtf8(body)) throw new Refusal('malformed_body', 'the body is not UTF-8')
  const text = body.toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Refusal('malformed_body', `the body is not JSON: ${(error as Error).message}`)
  }
  // Only an escape can bring these in: the bytes themselves are valid UTF-8. So most bodies are not walked.
  if (/\\u(?:0000|[dD][89a-fA-F])/.test(text)) refuseUnstorable(value)
  if (looksDeep(body)) refuseDeep(value)
  return value
}

/** More than anything real has, and less than exhausts a stack that walks it, here or in PostgreSQL. */
const maxLevels = 256

/** Brackets that stand open at once. Those inside strings count too: then a look at the value tells. */
function looksDeep(body: Buffer): boolean {
  if (body.length <= maxLevels) return false
  let levels = 0
  for (let index = 0; index < body.length; index++) {
    const byte = body[index]!
    if (byte === 0x5b || byte === 0x7b) {
      if (++levels > maxLevels) return true
    } else if ((byte === 0x5d || byte === 0x7d) && levels > 0) levels--
  }
  return false
}

function refuseDeep(root: unknown): void {
  const open: [value: unknown, level: number][] = [[root, 1]]
  while (open.length > 0) {
    const [value, level] = open.pop()!
    if (typeof value !== 'object' || value === null) continue
    if (level > maxLevels) throw new Refusal('malformed_body', `the body has more than ${maxLevels} levels`)
    for (const inner of Object.values(value)) open.push([inner, level + 1])
  }
}

/** PostgreSQL stores neither NUL nor half a surrogate pair. Walks with a list, so that depth cannot exhaust the stack. */
function refuseUnstorable(root: unknown): void {
  const open: unknown[] = [root]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value === 'string' && !isStorable(value)) {
      throw new Refusal('malformed_body', 'a string holds NUL or a lone surrogate')
    }
    if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value)) open.push(name, inner)
  }
}

export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()
