import { timingSafeEqual } from 'node:crypto'
import type { Db, Pool } from '../platform/db/db.ts'
import type { Listener } from '../platform/db/listen.ts'
import type { Log } from '../platform/log.ts'
import { hashTextOf } from './keys.ts'
import type { Project, ProjectRow } from './project.ts'
import { findSession } from './sessions.ts'
import * as store from './store.ts'

/** Said by every change of a key, token or project, so that other nodes forget what they cached. */
export const changedChannel = 'tidings_projects'

/** Who calls /api/v1, by a key or by a management token on its behalf. */
export interface ApiCaller {
  project: Project
  actor: string
}

export interface KnownKey {
  id: string
  kind: store.KeyRow['kind']
  caller: ApiCaller
  /** When the key ends, by the monotonic clock of this process; absent where it does not. */
  endsAtMs?: number
}

export interface KnownToken extends store.TokenRow {}

/** A look-up under way, and its answer once it is there. */
interface Cached<Found> {
  pending: Promise<Found | undefined>
  known?: { found: Found | undefined }
  expiresAtMs: number
}

/**
 * How long a look-up is believed. A revoked key must be refused everywhere within a second, also when no notification
 * arrives, so this is half of it; at 1,000 requests a second it still saves all but two look-ups.
 */
const believedMs = 500
const maxCached = 10_000
const usedFlushMs = 10_000

export type Credentials = ReturnType<typeof createCredentials>

/** Finds keys, tokens and projects, with a short memory. Absent ones are remembered too: guessing must not load the database. */
export function createCredentials(pool: Pool, listener: Listener, toProject: (row: ProjectRow) => Project, log: Log) {
  const keys = new Map<string, Cached<KnownKey>>()
  const tokens = new Map<string, Cached<KnownToken>>()
  const sessions = new Map<string, Cached<KnownToken>>()
  const projects = new Map<string, Cached<Project>>()
  const used = { keys: new Set<string>(), tokens: new Set<string>() }

  function forget(): void {
    keys.clear()
    tokens.clear()
    sessions.clear()
    projects.clear()
  }
  listener.on(changedChannel, forget)

  const flushTimer = setInterval(() => void flushUsed(), usedFlushMs)
  flushTimer.unref()

  async function flushUsed(): Promise<void> {
    const [keyIds, tokenIds, at] = [[...used.keys], [...used.tokens], new Date()]
    used.keys.clear()
    used.tokens.clear()
    try {
      if (keyIds.length > 0) await store.markKeysUsed(pool, keyIds, at)
      if (tokenIds.length > 0) await store.markTokensUsed(pool, tokenIds, at)
    } catch (error) {
      log.debug({ error: (error as Error).message }, 'the last use of keys was not written')
    }
  }

  const findProject = async (id: Project['id'], db: Db = pool) => {
    const row = await store.findProject(db, id)
    return row && toProject(row)
  }

  return {
    forget,
    /** By the hash of its text. Answers at once, without a promise, when the key was looked up a moment ago. */
    key(hashText: string): KnownKey | undefined | Promise<KnownKey | undefined> {
      const found = remembered(keys, hashText, async (name) => {
        const hash = Buffer.from(name, 'base64')
        // Before the look-up: what that takes makes a key end early rather than late.
        const askedAtMs = performance.now()
        const row = await store.findKey(pool, hash)
        if (!row || !timingSafeEqual(row.hash, hash)) return undefined
        const project = await findProject(row.project_id)
        const end = row.left_ms === null ? {} : { endsAtMs: askedAtMs + row.left_ms }
        return project && { id: row.id, kind: row.kind, caller: { project, actor: `key ${row.id}` }, ...end }
      })
      return noted(used.keys, found instanceof Promise ? found.then(unlessEnded) : unlessEnded(found))
    },
    async token(text: string): Promise<KnownToken | undefined> {
      return noted(
        used.tokens,
        remembered(tokens, hashTextOf(text), async (name) => {
          const hash = Buffer.from(name, 'base64')
          const row = await store.findToken(pool, hash)
          return row && timingSafeEqual(row.hash, hash) ? row : undefined
        })
      )
    },
    /** The token on whose behalf a browser is signed in. */
    async session(text: string): Promise<KnownToken | undefined> {
      return noted(
        used.tokens,
        remembered(sessions, hashTextOf(text), () => findSession(pool, text))
      )
    },
    /** `tx`: by whoever is in a transaction, who must not wait for a second connection. */
    async project(id: Project['id'], tx?: Db): Promise<Project | undefined> {
      if (!tx) return remembered(projects, id, () => findProject(id))
      const cached = projects.get(id)
      return cached?.known && cached.expiresAtMs > Date.now() ? cached.known.found : findProject(id, tx)
    },
    async close(): Promise<void> {
      clearInterval(flushTimer)
      await flushUsed()
    }
  }
}

/** At every use: a look-up that is believed must not prolong a key. */
const unlessEnded = (key: KnownKey | undefined): KnownKey | undefined =>
  key?.endsAtMs !== undefined && key.endsAtMs <= performance.now() ? undefined : key

type Soon<Found> = Found | undefined | Promise<Found | undefined>

function remembered<Found>(
  cache: Map<string, Cached<Found>>,
  key: string,
  find: (key: string) => Promise<Found | undefined>
): Soon<Found> {
  const nowMs = Date.now()
  const cached = cache.get(key)
  if (cached && cached.expiresAtMs > nowMs) return cached.known ? cached.known.found : cached.pending
  const fresh: Cached<Found> = { pending: find(key), expiresAtMs: nowMs + believedMs }
  if (cache.size >= maxCached) cache.clear()
  cache.set(key, fresh)
  fresh.pending.then(
    (found) => {
      fresh.known = { found }
    },
    () => cache.delete(key) // A failed look-up is not an answer.
  )
  return fresh.pending
}

/** Remembers for the next flush that a credential was used. */
function noted<Found extends { id: string }>(used: Set<string>, found: Soon<Found>): Soon<Found> {
  if (found instanceof Promise) return found.then((known) => noted(used, known) as Found | undefined)
  if (found) used.add(found.id)
  return found
}
