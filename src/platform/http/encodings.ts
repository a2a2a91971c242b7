import type { ZlibOptions } from 'node:zlib'
import { gunzip, inflate } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import { Refusal } from '../errors.ts'
import { inUnits } from '../fields.ts'

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

/**
 * Decompresses a body off the main thread. The limit of the route applies to the decompressed bytes, and decompression
 * ends there: a few bytes may expand to gigabytes.
 */
export function decoded(request: FastifyRequest, body: Buffer, encoding: string): Promise<Buffer> {
  const decode = decoders.get(encoding)
  if (!decode) return Promise.reject(unknownEncoding())
  const { bodyLimit } = request.routeOptions
  return new Promise((resolve, reject) => {
    decode(body, { maxOutputLength: bodyLimit }, (error, plain) => {
      if (!error) return resolve(plain)
      const tooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
      reject(
        tooLarge
          ? new Refusal('body_too_large', `The body is larger than ${inUnits(bodyLimit)} when it is decompressed.`)
          : new Refusal('malformed_body', `the body is not ${encoding}`)
      )
    })
  })
}
