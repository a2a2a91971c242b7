import { createHash } from 'node:crypto'
import { type TSchema, Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { askedUrl } from '../../net/asked-url.ts'
import type { DocumentedRoute } from '../route.ts'
import type { Routes } from '../routes.ts'
import { docsScript, docsStyle } from './docs-assets.ts'
import { renderDocsPage } from './docs-page.ts'
import { buildOpenApi } from './openapi.ts'
import { publicOpenApi } from './public.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('base64')

/**
 * Stands for the address in the document, which is built once; each response replaces it by the address that its reader
 * used.
 */
const anyBase = 'http://address.invalid'

const OpenApiAnswer = Type.Object({
  openapi: Type.Literal('3.1.0', { description: 'The version of OpenAPI; the rest is as it says.' })
})

/**
 * The description of the API, for programs and for people. Built when first read, so that a start does not wait for it.
 */
export function docsRoutes(
  open: Routes<null, never>,
  documented: readonly DocumentedRoute[],
  schemaNames: Readonly<Record<string, TSchema>>
): void {
  const document = once(() => buildOpenApi(documented, anyBase))
  const complete = once(() => JSON.stringify(document()))
  const json = once(() => JSON.stringify(publicOpenApi(document(), schemaNames)))
  const page = once(() => renderDocsPage(document()))
  const policy = once(contentPolicy)

  open.get(
    '/openapi.json',
    {
      summary: 'This API as an OpenAPI document, to generate clients from',
      answer: OpenApiAnswer
    },
    ({ request, reply }) => send(request, reply.type('application/json; charset=utf-8'), json())
  )

  open.get(
    '/openapi-complete.json',
    {
      summary: 'Every route of the service as an OpenAPI document without names of schemas, to test it',
      answer: OpenApiAnswer
    },
    ({ request, reply }) => send(request, reply.type('application/json; charset=utf-8'), complete())
  )

  open.get('/docs/api', { summary: 'This API as a page', answerType: 'text/html' }, ({ request, reply }) => {
    reply.headers({
      'content-security-policy': policy(),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer'
    })
    return send(request, reply.type('text/html; charset=utf-8'), page())
  })
}

function send(request: FastifyRequest, reply: FastifyReply, built: string): FastifyReply {
  const text = built.replaceAll(anyBase, askedUrl(request))
  const etag = `"${sha256(text).slice(0, 27)}"`
  // Browsers revalidate each time, so that an upgrade shows at once; an unchanged page costs a 304.
  reply.headers({ etag, 'cache-control': 'private, no-cache' })
  return request.headers['if-none-match'] === etag ? reply.code(304).send() : reply.send(text)
}

/** Allows nothing from other hosts, and only the style and the script in the page itself. */
function contentPolicy(): string {
  return [
    "default-src 'none'",
    `style-src 'sha256-${sha256(docsStyle)}'`,
    `script-src 'sha256-${sha256(docsScript)}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join('; ')
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
