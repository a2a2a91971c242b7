import type { Db, Pool } from '../platform/db/db.ts'
import type { Listener } from '../platform/db/listen.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import { hashTextOf, isPossible } from './keys.ts'
import { byHash } from './lookups/by-hash.ts'
import { createLookups, type From, type LookupCounts, type Soon } from './lookups/lookups.ts'
import { createStrangers } from './lookups/strangers.ts'
import type { Policy } from './policy.ts'
import { type Principal, principalOf } from './principal.ts'
import type { Project, ProjectRow } from './project.ts'
import { findCodes, findSessions, type How, markSessionsSeen } from './session-store.ts'
import * as store from './store.ts'

/** Announces every change of a key, token or project, so that other nodes drop their cached copies. */
export const changedChannel = 'tidings_projects'

/** The caller of /api/v1, identified by a key, or by a management token or a member on its behalf. */
export interface ApiCaller {
  project: Project
  actor: string
  /** Absent for a management token and for a member. */
  key?: CallerKey
}

export interface CallerKey {
  id: string
  kind: store.KeyRow['kind']
  name: string
  /** Null: no limits. */
  policy: Policy | null
  /** The first key of its chain of rotations, over which the limits of a policy count. */
  originId: string
}

export interface KnownKey {
  id: string
  kind: store.KeyRow['kind']
  caller: ApiCaller
  /** When the key ends, by the monotonic clock of this process; absent if it does not end. */
  endsAtMs?: number
}

export interface KnownToken extends store.TokenRow {}

/** A signed-in browser. */
export interface KnownSession {
  /** Null for a session that a node of an older version opened. */
  id: string | null
  how: How
  /** Null for a session that a node of an older version opened. */
  createdAt: Date | null
  principal: Principal
}

/** What the capability of members knows: it comes later in the line of imports. */
export interface People {
  /** The members that have a role somewhere. */
  members(ids: string[]): Promise<Map<string, Principal>>
  /** The links of these hashes that can still be used. */
  links(hashes: Buffer[]): Promise<{ hash: Buffer }[]>
  /** Records when members were seen last. */
  seen(ids: string[], at: Date): Promise<unknown>
}

const usedFlushMs = 10_000

export type Credentials = ReturnType<typeof createCredentials>

export interface CredentialsNeeds {
  pool: Pool
  listener: Pick<Listener, 'on'>
  toProject: (row: ProjectRow) => Project
  people: People
  log: Log
  metrics: Pick<Metrics, 'counter'>
}

/**
 * Finds keys, tokens, sessions and projects, with a short cache. Unknown credentials cost as little as known ones:
 * lookups.ts explains how.
 */
export function createCredentials({ pool, listener, toProject, people, log, metrics }: CredentialsNeeds) {
  const strangers = createStrangers()
  const keys = createLookups(findKeys, strangers)
  const tokens = createLookups((hashes) => byHash(hashes, (wanted) => store.findTokens(pool, wanted)), strangers)
  const sessions = createLookups(findKnownSessions, strangers)
  const codes = createLookups((hashes) => byHash(hashes, (wanted) => findCodes(pool, wanted)), strangers)
  const links = createLookups((hashes) => byHash(hashes, people.links), strangers)
  const projects = createLookups((ids) => findProjects(ids as ProjectId[]), strangers)
  const kinds = { key: keys, token: tokens, session: sessions, code: codes, link: links, project: projects }
  const used = {
    keys: new Set<string>(),
    tokens: new Set<string>(),
    sessions: new Set<string>(),
    members: new Set<string>()
  }

  function forget(): void {
    for (const lookups of Object.values(kinds)) lookups.forget()
  }
  listener.on(changedChannel, forget)
  countLookups(metrics, kinds)

  const flushTimer = setInterval(() => void flushUsed(), usedFlushMs)
  flushTimer.unref()

  async function flushUsed(): Promise<void> {
    const at = new Date()
    const [keyIds, tokenIds, sessionIds, memberIds] = [used.keys, used.tokens, used.sessions, used.members].map(
      (ids) => [...ids]
    ) as [string[], string[], string[], string[]]
    for (const ids of Object.values(used)) ids.clear()
    try {
      if (keyIds.length > 0) await store.markKeysUsed(pool, keyIds, at)
      if (tokenIds.length > 0) await store.markTokensUsed(pool, tokenIds, at)
      if (sessionIds.length > 0) await markSessionsSeen(pool, sessionIds, at)
      if (memberIds.length > 0) await people.seen(memberIds, at)
    } catch (error) {
      log.debug({ error: (error as Error).message }, 'the last use of keys was not written')
    }
  }

  const findProjects = async (ids: ProjectId[]) =>
    new Map<string, Project>((await store.findProjects(pool, ids)).map((row) => [row.project_id, toProject(row)]))

  /** Keys with their projects, in two statements; in one if none of them is known. */
  async function findKeys(hashes: string[]): Promise<Map<string, KnownKey>> {
    // Read before the look-up: its duration makes a key end early rather than late.
    const askedAtMs = performance.now()
    const rows = await byHash(hashes, (wanted) => store.findKeys(pool, wanted))
    if (rows.size === 0) return new Map()
    const found = await findProjects([...new Set([...rows.values()].map((row) => row.project_id))])
    return new Map(
      [...rows].flatMap(([hash, { id, kind, project_id, left_ms, name, policy, origin_id }]) => {
        const project = found.get(project_id)
        const end = left_ms === null ? {} : { endsAtMs: askedAtMs + left_ms }
        const key = { id, kind, name, policy, originId: origin_id ?? id }
        return project ? [[hash, { id, kind, caller: { project, actor: `key ${id}`, key }, ...end }] as const] : []
      })
    )
  }

  /** Sessions with the roles of their tokens and members: one statement, and one more if members are among them. */
  async function findKnownSessions(hashes: string[]): Promise<Map<string, KnownSession>> {
    const rows = await byHash(hashes, (wanted) => findSessions(pool, wanted))
    const ids = [...new Set([...rows.values()].flatMap(({ member_id }) => member_id ?? []))]
    const members = ids.length > 0 ? await people.members(ids) : new Map<string, Principal>()
    return new Map(
      [...rows].flatMap(([hash, { id, how, created_at, member_id, token }]) => {
        const principal = member_id ? members.get(member_id) : token && principalOf(token)
        return principal ? [[hash, { id, how: how ?? 'token', createdAt: created_at, principal }] as const] : []
      })
    )
  }

  function noteSession(session: KnownSession | undefined): KnownSession | undefined {
    if (!session) return undefined
    if (session.id) used.sessions.add(session.id)
    used[`${session.principal.kind}s`].add(session.principal.id)
    return session
  }

  return {
    forget,
    /** A key by the hash of its text. Returns at once, without a promise, if the key was looked up a moment ago. */
    key(hashText: string, from?: From): Soon<KnownKey> {
      const found = keys.get(hashText, from)
      return noted(used.keys, found instanceof Promise ? found.then(unlessEnded) : unlessEnded(found))
    },
    async token(text: string, from?: From): Promise<KnownToken | undefined> {
      return isPossible(text, 'token') ? noted(used.tokens, tokens.get(hashTextOf(text), from)) : undefined
    },
    /** The session of a browser, with the token or the member that it acts for. */
    async session(text: string, from?: From): Promise<KnownSession | undefined> {
      return isPossible(text, 'session') ? noteSession(await sessions.get(hashTextOf(text), from)) : undefined
    },
    /** The id of the token of a sign-in code, if the code is valid. `redeemCode` then invalidates the code. */
    async code(text: string, from?: From): Promise<string | undefined> {
      return isPossible(text, 'code') ? (await codes.get(hashTextOf(text), from))?.token_id : undefined
    },
    /** Whether the text is that of an invitation or a reset link which can be used. */
    async link(text: string, from?: From): Promise<boolean> {
      const possible = isPossible(text, 'invitation') || isPossible(text, 'reset')
      return possible && (await links.get(hashTextOf(text), from)) !== undefined
    },
    /** `tx`: for callers inside a transaction, which must not wait for a second connection. */
    async project(id: ProjectId, tx?: Db): Promise<Project | undefined> {
      if (!tx) return projects.get(id)
      const recent = projects.recent(id)
      if (recent) return recent.found
      const row = await store.findProject(tx, id)
      return row && toProject(row)
    },
    async close(): Promise<void> {
      clearInterval(flushTimer)
      await flushUsed()
    }
  }
}

/** Checked at every use: a cached look-up must not prolong a key. */
const unlessEnded = (key: KnownKey | undefined): KnownKey | undefined =>
  key?.endsAtMs !== undefined && key.endsAtMs <= performance.now() ? undefined : key

/** Records for the next flush that a credential was used. */
function noted<Found extends { id: string }>(used: Set<string>, found: Soon<Found>): Soon<Found> {
  if (found instanceof Promise) return found.then((known) => noted(used, known) as Found | undefined)
  if (found) used.add(found.id)
  return found
}

function countLookups(metrics: Pick<Metrics, 'counter'>, kinds: Record<string, { counts: LookupCounts }>): void {
  metrics.counter(
    'tidings_credential_lookups_total',
    'Keys, tokens, sessions, sign-in codes, links and projects looked up in the database, by what was found.',
    () =>
      Object.entries(kinds).flatMap(
        ([
          kind,
          {
            counts: { found, unknown, refused }
          }
        ]) =>
          Object.entries({ found, unknown, refused }).map(([result, value]) => ({ labels: { kind, result }, value }))
      )
  )
  metrics.counter('tidings_credential_rounds_total', 'Rounds of those look-ups: one for many credentials.', () =>
    Object.entries(kinds).map(([kind, { counts }]) => ({ labels: { kind }, value: counts.rounds }))
  )
}
