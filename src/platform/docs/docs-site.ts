import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { html, trusted } from '../http/openapi/html.ts'
import type { Routes } from '../http/routes.ts'
import { type DocsFiles, type DocsPage, kinds, readDocs } from './docs-files.ts'
import { bodyOf, headingsOf } from './docs-markup.ts'
import { siteStyle } from './docs-style.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('base64')

const policy = [
  "default-src 'none'",
  `style-src 'sha256-${sha256(siteStyle)}'`,
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join('; ')

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

/** These docs as pages, so that the console links to the version of the docs that is running. */
export function docsSite(open: Routes<null, never>): void {
  let reading: Promise<DocsFiles> | undefined
  const bodies = new Map<string, string>()
  const files = () => {
    reading ??= readDocs()
    return reading
  }

  open.get('/docs/index.json', { summary: 'The pages of the docs and their headings', answer: Index }, async () => {
    const { pages } = await files()
    return {
      pages: [...pages.values()].map((page) => ({
        path: page.path,
        kind: page.kind,
        title: page.title,
        headings: headingsOf(page)
      }))
    }
  })
  open.get('/docs', { summary: 'To the docs', hidden: true }, ({ reply }) => reply.redirect('/docs/', 302))
  open.get('/docs/*', { summary: 'A page of the docs', hidden: true }, async ({ params, request, reply }) => {
    const name = params['*'] ?? ''
    const docs = await files()
    const image = docs.images.get(name)
    if (image)
      return reply.headers({ 'content-type': 'image/png', 'cache-control': 'max-age=3600' }).send(await readFile(image))
    const page = docs.pages.get(name.replace(/\.md$|\/$/, ''))
    if (!page) return reply.code(404).send({ error: 'Not Found' })
    // Loaded with the first page: a start does not wait for it.
    const { Marked } = await import('marked')
    const text = bodies.get(page.path) ?? pageOf(docs, page, bodyOf(Marked, docs, page))
    bodies.set(page.path, text)
    return send(request, reply, text)
  })
}

function send(request: FastifyRequest, reply: FastifyReply, text: string): FastifyReply {
  const etag = `"${sha256(text).slice(0, 27)}"`
  reply.headers({
    etag,
    'cache-control': 'private, no-cache',
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer'
  })
  return request.headers['if-none-match'] === etag ? reply.code(304).send() : reply.send(text)
}

const pageOf = ({ pages }: DocsFiles, page: DocsPage, body: string): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title} · Tidings docs</title>
<style>${trusted(siteStyle)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<nav aria-label="Docs">
<p class="brand"><a href="/docs/">Tidings docs</a> <a href="/docs/api">API</a> <a href="/console/">Console</a></p>
${kinds.map(
  (
    kind
  ) => html`<details${page.kind === kind && trusted(' open')}><summary>${kind[0]!.toUpperCase()}${kind.slice(1)}</summary>
<ul>${[...pages.values()]
    .filter((each) => each.kind === kind)
    .map(
      (each) =>
        html`<li><a href="/docs/${each.path}"${each === page && trusted(' aria-current="page"')}>${each.title}</a></li>`
    )}</ul></details>`
)}
</nav>
<main id="content" tabindex="-1">
${trusted(body)}
</main>
</body>
</html>
`.markup
