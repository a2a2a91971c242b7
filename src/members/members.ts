import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Db, Pool } from '../platform/db/db.ts'
import { isUuid, type ProjectId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import {
  type Cookies,
  type Credentials,
  type How,
  type People,
  type Principal,
  type Role,
  roleIn
} from '../projects/projects.ts'
import { createAccepting } from './accepting.ts'
import { createBrowsers } from './browser.ts'
import { type Cost, createHashing } from './hashing.ts'
import { sweepMembersJob } from './jobs.ts'
import { findLinks } from './link-store.ts'
import { createManaging } from './managing.ts'
import { findRoles } from './membership-store.ts'
import { removeIdentitiesOf } from './oidc/store.ts'
import { createOwn } from './own.ts'
import { removePasskeysOf } from './passkeys/store.ts'
import { createRecords } from './records.ts'
import { createSessions } from './sessions.ts'
import { createPasswordCheck } from './sign-in.ts'
import * as store from './store.ts'

export { deviceOf } from './device.ts'
export { createDoors, type Doors } from './doors.ts'
export { readEmail } from './email.ts'
export { longest as longestPassword, shortest as shortestPassword } from './hashing.ts'
export { forgetResetLinks } from './link-store.ts'
export type { MadeLink } from './managing.ts'
export type { Scope } from './membership-store.ts'
export { attemptSeconds, type Oidc, type OidcFailure, OidcRefused } from './oidc/oidc.ts'
export { checkFresh, memberIdOf } from './own.ts'
export { type PasskeyRow, type Passkeys, passkeyOrigin } from './passkeys/passkeys.ts'
export type { ListedMember } from './store.ts'

export type Members = ReturnType<typeof createMembers>

export interface MembersNeeds {
  pool: Pool
  credentials: Pick<Credentials, 'session' | 'link' | 'forget' | 'project'>
  log: Log
  /** The master key. */
  key: Buffer
  cookies: Cookies
  /** PASSWORD_SIGN_IN. */
  passwords: boolean
  auditDays: number
  /** The number of nodes that serve requests. */
  serving: () => number
  /** The cost of a hash of a password; tests take a small one. */
  cost?: Cost | undefined
}

/** People who sign in to the console: their roles, passwords, links and sessions (docs/decisions/0050). */
export function createMembers(needs: MembersNeeds) {
  const { pool, credentials, cookies, log, passwords } = needs
  const browsers = createBrowsers(needs)
  const hashing = createHashing(needs.cost)
  const managing = createManaging({ pool, credentials, log, onRetired: forgetWays })
  const records = createRecords(pool, managing.audit)
  const onLocked = records.locked
  const checkPassword = createPasswordCheck({ pool, browsers, hashing, serving: needs.serving, onLocked })
  /** Opens a session for a member who has proved who it is, and sets the cookies of the response. */
  async function signIn(memberId: string, how: How, request: FastifyRequest, reply: FastifyReply) {
    const session = await browsers.signIn(request, reply, { memberId }, how)
    // Accepted links have entries of their own.
    if (session && how !== 'link') await records.signedIn(session.principal, how)
    return session
  }
  /** The same for a person who has a management token, or a link with the rights of one. */
  async function signInWithToken(tokenId: string, how: How, request: FastifyRequest, reply: FastifyReply) {
    const session = await browsers.signIn(request, reply, { tokenId }, how)
    if (session) await records.signedIn(session.principal, how)
    return session
  }
  const { change, audit, eraseWindow, ...decisions } = managing

  return {
    ...decisions,
    /** Invitations and reset links in the hands of their people, and the first member. */
    links: createAccepting({ pool, credentials, cookies, hashing, checkPassword, managing, signIn, passwords }),
    browsers,
    signIn,
    signInWithToken,
    /** The member of an address and a password, with limits on failures. */
    checkPassword,
    own: createOwn({ pool, hashing, checkPassword, managing, passwords }),
    sessions: createSessions(pool, credentials),
    list: (...filter: Tail<Parameters<typeof store.listMembers>>) => store.listMembers(pool, ...filter),
    /** Whether no member has joined yet. */
    none: async () => !(await store.hasMembers(pool)),
    /** For other ways to sign in: one transaction, after which every node reads the roles again, and its audit entry. */
    change,
    audit,
    eraseWindow,
    jobs: [sweepMembersJob(pool, needs.auditDays)]
  }
}

/** What signs a member in besides a password ends with the member. */
async function forgetWays(tx: Db, memberIds: string[]): Promise<void> {
  await removePasskeysOf(tx, memberIds)
  await removeIdentitiesOf(tx, memberIds)
}

type Tail<List extends unknown[]> = List extends [unknown, ...infer Rest] ? Rest : never

/** What admission must know about members. */
export const peopleOf = (db: Db): People => ({
  members: (ids) => principalsOf(db, ids),
  links: (hashes) => findLinks(db, hashes),
  seen: (ids, at) => store.markSeen(db, ids, at)
})

/** The members of these ids that have joined and have a role somewhere. */
export async function principalsOf(db: Db, ids: string[]): Promise<Map<string, Principal>> {
  const rows = Map.groupBy(await findRoles(db, ids), ({ id }) => id)
  return new Map(
    [...rows].map(([id, own]) => {
      const { name, email } = own[0]!
      const roles = new Map<string, Role>(
        own.flatMap(({ project_id, role }) => (project_id ? [[project_id, role]] : []))
      )
      const role = own.find(({ project_id }) => project_id === null)?.role ?? null
      return [id, { kind: 'member', id, name, email, role, roles }]
    })
  )
}

/** The names of those actors of an audit log that are members, also of removed ones; others are left out. */
export async function namesOf(
  db: Db,
  actors: readonly string[]
): Promise<Map<string, { name: string; email: string }>> {
  const ids = actors.flatMap((actor) => /^member (.+)$/.exec(actor)?.[1] ?? []).filter(isUuid)
  const rows = ids.length > 0 ? await store.findNames(db, [...new Set(ids)]) : []
  return new Map(rows.map(({ id, name, email }) => [`member ${id}`, { name: name || email, email }]))
}

/** The same with the role that each has in a project now, or without one in the installation; null: none any more. */
export async function authorsOf(
  db: Db,
  projectId: ProjectId | null,
  actors: readonly string[]
): Promise<Map<string, { name: string; role: Role | null }>> {
  const names = await namesOf(db, actors)
  const principals = await principalsOf(
    db,
    [...names.keys()].map((actor) => actor.slice('member '.length))
  )
  return new Map(
    [...names].map(([actor, { name }]) => {
      const principal = principals.get(actor.slice('member '.length))
      const role = projectId === null ? principal?.role : principal && roleIn(principal, projectId)
      return [actor, { name, role: role ?? null }]
    })
  )
}
