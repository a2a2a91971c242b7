import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import { Refusal } from '../platform/errors.ts'
import { letPageRead, pagesOfApps } from '../platform/http/cross-origin.ts'
import type { Routes } from '../platform/http/routes.ts'
import type { ApiAccess, ApiCaller, Project } from '../projects/projects.ts'
import { joined } from './joined.ts'

/** One hour: pages load the script often, and an upgrade reaches them within the hour. */
const cached = 'public, max-age=3600'

/** Serves the browser client to pages of any site, without a package to install. */
export function sdkRoutes(open: Routes<null, never>): void {
  for (const [name, folder, summary] of [
    ['tidings.js', 'page', 'The browser client, as a module for pages'],
    ['tidings-simulated.js', 'page', 'The part of the browser client for projects of mode simulator'],
    ['tidings-sw.js', 'worker', 'The part for service workers, for importScripts']
  ] as const) {
    const script = once(() => readScript(folder, name))
    open.get(`/sdk/${name}`, { summary, answerType: 'text/javascript' }, async ({ request, reply }) => {
      const { text, etag } = await script()
      letPageRead(pagesOfApps, request, reply)
      reply.headers({
        etag,
        'cache-control': cached,
        'cross-origin-resource-policy': 'cross-origin',
        'x-content-type-options': 'nosniff'
      })
      if (request.headers['if-none-match'] === etag) return reply.code(304).send()
      return reply.type('text/javascript; charset=utf-8').send(text)
    })
  }
}

/** Joins the modules of a part to one script, so that a page loads it with one request. */
async function readScript(folder: string, name: string): Promise<{ text: string; etag: string }> {
  const text = await joined((file) => readModule(join(import.meta.dirname, folder, file)), name)
  return { text, etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"` }
}

/** A built package contains the module; a checkout contains its source, from which the types are removed. */
const readModule = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    return withoutTypes(await readFile(file.replace(/\.js$/, '.ts'), 'utf8'))
  })

/** Suppresses Node's warning that the function is experimental, which no operator can act on. */
function withoutTypes(source: string): string {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(source, { mode: 'strip' })
  } finally {
    process.emitWarning = emitWarning
  }
}

const PublicKey = Type.Object({
  public_key: Type.String({ description: 'The applicationServerKey of subscriptions: a P-256 point in base64url.' }),
  simulated: Type.Boolean({ description: 'true: the project sends to simulated browsers only.' })
})

/** Returns the key that a page needs to subscribe. `keyOf` returns null for a project without Web Push. */
export function webPushKeyRoute(
  api: Routes<ApiCaller, ApiAccess>,
  keyOf: (project: Project) => Promise<string | null>
): void {
  api.get(
    '/web-push/public-key',
    {
      summary: 'Read the key that browsers subscribe with',
      access: 'client',
      answer: PublicKey,
      refusals: ['not_found']
    },
    async ({ caller }) => {
      const public_key = await keyOf(caller.project)
      if (public_key === null) throw new Refusal('not_found', 'Web Push is not set up for this project.')
      return { public_key, simulated: caller.project.mode === 'simulator' }
    }
  )
}

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined
  return () => {
    // Failures are not cached, so that the next request reads the file again.
    made ??= make().catch((error) => {
      made = undefined
      throw error
    })
    return made
  }
}
