import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Routes } from '../http/routes.ts'
import { askedUrl } from '../net/asked-url.ts'
import { sectionsOf } from './docs-markup.ts'
import { kindOf } from './docs-nav.ts'
import { anyOrigin, createSite, type Site, type SiteFile, sitePolicy } from './docs-site.ts'

const policy = [...sitePolicy, "frame-ancestors 'none'"].join('; ')

const Index = Type.Object({
  pages: Type.Array(
    Type.Object({
      path: Type.String({ description: 'The page is at /docs/ and this path.' }),
      kind: Type.String({ description: 'tutorials, guides, explanations, reference or decisions.' }),
      title: Type.String(),
      headings: Type.Array(Type.Object({ id: Type.String(), text: Type.String() }))
    })
  )
})

let reading: Promise<Site> | undefined

/** The site of this version. Read at the first request, so that a start does not wait for it. */
export function docsSite(): Promise<Site> {
  reading ??= createSite({ base: '/docs/', suffix: '', api: '/docs/api', console: '/console/' })
  return reading
}

/** These docs as pages, so that the console links to the version of the docs that is running. */
export function docsSiteRoutes(open: Routes<null, never>): void {
  const sendFile = sender()
  open.get('/docs/index.json', { summary: 'The pages of the docs and their headings', answer: Index }, async () => {
    const { docs, nav } = await docsSite()
    return {
      pages: [...docs.pages.values()].map((page) => ({
        path: page.path,
        kind: kindOf(nav, page),
        title: page.title,
        headings: sectionsOf(page)
          .filter(({ depth }) => depth > 1)
          .map(({ id, text }) => ({ id, text }))
      }))
    }
  })
  open.get('/docs', { summary: 'To the docs', hidden: true }, ({ reply }) => reply.redirect('/docs/', 302))
  open.get(
    '/llms-full.txt',
    { summary: 'All pages of the docs in one text, for language models', answerType: 'text/plain' },
    async ({ request, reply }) => {
      const file = await (await docsSite()).file('llms-full.txt')
      return sendFile(request, reply, 'llms-full.txt', file!)
    }
  )
  open.get('/docs/*', { summary: 'A page of the docs', hidden: true }, async ({ params, request, reply }) => {
    const name = (params['*'] ?? '').replace(/(?<=.)\/$|\.html$/, '')
    const site = await docsSite()
    const file = await site.file(name)
    if (file) return sendFile(request, reply, name, file, site.versions)
    if (!request.headers.accept?.includes('text/html')) return reply.code(404).send({ error: 'Not Found' })
    const missing = { type: 'text/html; charset=utf-8', body: site.missing }
    return sendFile(request, reply.code(404), '404', missing)
  })
}

type Send = (
  request: FastifyRequest,
  reply: FastifyReply,
  name: string,
  file: SiteFile,
  versions?: ReadonlySet<string>
) => Promise<FastifyReply>

/** Sends files with a hash of their content and compressed. What is the same for every address is compressed once. */
function sender(): Send {
  const packed = new Map<string, Promise<Buffer>>()
  return async (request, reply, name, { type, body }, versions) => {
    const changes = typeof body === 'string' && body.includes(anyOrigin)
    const sent = changes ? body.replaceAll(anyOrigin, askedUrl(request)) : body
    const etag = `"${createHash('sha256').update(sent).digest('base64url').slice(0, 27)}"`
    const { v } = request.query as { v?: string }
    reply.headers({
      etag,
      'content-type': type,
      // Browsers revalidate pages each time, so that an upgrade shows at once; an unchanged page costs a 304.
      'cache-control': v && versions?.has(v) ? 'public, max-age=31536000, immutable' : 'private, no-cache',
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      vary: 'Accept-Encoding'
    })
    if (reply.statusCode === 200 && request.headers['if-none-match'] === etag) return reply.code(304).send()
    const coding = codingOf(request)
    if (coding === undefined || typeof sent !== 'string') return reply.send(sent)
    const key = `${coding} ${name}`
    const bytes = packed.get(key) ?? pack[coding](sent)
    if (!changes) packed.set(key, bytes)
    return reply.header('content-encoding', coding).send(await bytes)
  }
}

function codingOf({ headers }: FastifyRequest): 'br' | 'gzip' | undefined {
  const accepted = String(headers['accept-encoding'] ?? '')
  if (/\bbr\b/.test(accepted)) return 'br'
  return /\bgzip\b/.test(accepted) ? 'gzip' : undefined
}

const pack = {
  br: (text: string) => promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  gzip: (text: string) => promisify(gzip)(text)
}
