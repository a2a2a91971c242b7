import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import type { Routes } from '../platform/http/routes.ts'
import { createFailures } from './failures.ts'
import type { ConsoleFile, ConsoleFiles } from './files.ts'
import { linkRoutes } from './link-routes.ts'
import { oidcRoutes } from './oidc-routes.ts'
import { passkeyRoutes } from './passkey-routes.ts'
import { type SessionNeeds, sessionRoutes } from './session-routes.ts'

export { builtConsole } from './build.ts'
export { type ConsoleFiles, readFiles } from './files.ts'

/** The files of the console, or a sentence why they are not there (yet). */
export interface ConsoleState {
  files?: ConsoleFiles
  waiting?: string
  /** Ends when the files are there, or when it is clear that they will not be. */
  loading?: Promise<void>
}

/** A page that stayed open over a restart asks for its next file at once; reading a built console takes less than this. */
const loadingMs = 5_000

/** The page may load everything from the service itself, and images of notifications also from other sites. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "connect-src 'self'",
  "img-src 'self' data: https:",
  "font-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join('; ')

/** The page under /console/ and the routes that sign a browser in. */
export function consoleRoutes(open: Routes<null, never>, state: ConsoleState, needs: SessionNeeds): void {
  const failures = createFailures()
  sessionRoutes(open, needs, failures)
  linkRoutes(open, needs, failures)
  passkeyRoutes(open, needs, failures)
  if (needs.doors.oidc) oidcRoutes(open, { ...needs, oidc: needs.doors.oidc })
  for (const path of ['/', '/console']) {
    open.get(path, { summary: 'To the console', hidden: true }, ({ reply }) => reply.redirect('/console/', 302))
  }
  open.get('/console/*', { summary: 'The console', hidden: true }, async ({ params, request, reply }) => {
    reply.headers({
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer'
    })
    const name = params['*'] ?? ''
    if (name === 'waiting.js') return reply.type('text/javascript; charset=utf-8').send(reloadSoon)
    if (name === 'push-worker.js') return reply.type('text/javascript; charset=utf-8').send(pushWorker)
    // A name with an extension is a file. Any other path is a page of the router in index.html.
    if (/\.[a-z0-9]+$/i.test(name) && name !== 'index.html') {
      if (!state.files) await Promise.race([state.loading, sleep(loadingMs, undefined, { ref: false })])
      const file = state.files?.get(name)
      if (file) return sendFile(reply, file, request.headers['accept-encoding'])
      return reply.code(404).send({ error: 'Not Found' })
    }
    if (!state.files) return sendWaiting(reply, state.waiting ?? 'This start does not serve the console.')
    return sendFile(reply, state.files.get('index.html')!, request.headers['accept-encoding'])
  })
}

function sendFile(reply: FastifyReply, { type, body, encoded, hashed }: ConsoleFile, accepts = ''): FastifyReply {
  reply.headers({
    'content-type': type,
    vary: 'Accept-Encoding',
    'cache-control': hashed ? 'public, max-age=31536000, immutable' : 'no-cache'
  })
  const accepted = String(accepts)
  if (encoded.br && /\bbr\b/.test(accepted)) return reply.header('content-encoding', 'br').send(encoded.br)
  if (encoded.gzip && /\bgzip\b/.test(accepted)) return reply.header('content-encoding', 'gzip').send(encoded.gzip)
  return reply.send(body)
}

/** A meta refresh would keep the document and only follow the # with the sign-in code, so a script reloads it. */
const reloadSoon = 'setTimeout(() => location.reload(), 1000)'

/** The worker of the browser client, for a person who makes the browser of the console a device of a project. */
const pushWorker = "importScripts('/sdk/tidings-sw.js')"

/** A page that reloads itself. Its status is 200, because the service itself works. */
const sendWaiting = (reply: FastifyReply, sentence: string) =>
  reply
    .headers({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' })
    .send(`<!doctype html><html lang="en"><meta charset="utf-8"><script src="/console/waiting.js" defer></script>
<meta name="viewport" content="width=device-width"><title>Tidings</title>
<style>body{font:16px system-ui;margin:20vh auto;max-width:32rem;padding:0 1rem;color-scheme:light dark}</style>
<h1>Tidings</h1><p>${sentence.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)}</p></html>`)
