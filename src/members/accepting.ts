import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Db, Pool } from '../platform/db/db.ts'
import { holdSetting } from '../platform/db/store.ts'
import { Refusal } from '../platform/errors.ts'
import { refusing } from '../platform/fields.ts'
import { newId } from '../platform/ids.ts'
import {
  type Cookies,
  type Credentials,
  checkConsoleHeader,
  endSessionsOf,
  type KnownSession,
  networkOf
} from '../projects/projects.ts'
import { checkEmail } from './email.ts'
import { checkNew, type Hashing } from './hashing.ts'
import { findLink, redeemLink, removeLinks } from './link-store.ts'
import type { createManaging } from './managing.ts'
import * as memberships from './membership-store.ts'
import { checkName } from './name.ts'
import { removePasskeysOf } from './passkeys/store.ts'
import type { PasswordCheck } from './sign-in.ts'
import * as store from './store.ts'

export interface AcceptingNeeds {
  pool: Pool
  credentials: Pick<Credentials, 'session' | 'link' | 'project'>
  cookies: Pick<Cookies, 'sessionOf'>
  hashing: Hashing
  checkPassword: PasswordCheck
  managing: Pick<ReturnType<typeof createManaging>, 'change' | 'audit'>
  signIn: (
    memberId: string,
    how: 'link',
    request: FastifyRequest,
    reply: FastifyReply
  ) => Promise<KnownSession | undefined>
  /** PASSWORD_SIGN_IN. */
  passwords: boolean
}

/** How a person will sign in from now on: with a password, or with what `keep` stores in the same transaction. */
export interface Proof {
  password?: string | undefined
  keep?: (tx: Db, memberId: string) => Promise<void>
}

const gone = () =>
  new Refusal('invalid_token', 'This link is invalid, expired or was used already. Ask an admin for a new one.')

/** Redeems links that admins make, and makes the first member. */
export function createAccepting(needs: AcceptingNeeds) {
  const { pool, credentials, cookies, hashing, checkPassword, managing, signIn, passwords } = needs

  /** Guesses wait for each other, as those of other credentials do. */
  async function find(code: string, request: FastifyRequest) {
    const link = (await credentials.link(code, request)) ? await findLink(pool, code) : undefined
    const member = link && (await store.findMember(pool, link.member_id))
    return member && { link, member }
  }

  /** The hash of a new password, made before the transaction: it takes a while. */
  async function hashNew({ password, keep }: Proof, request: FastifyRequest): Promise<string | null> {
    if (keep) return null
    if (!passwords) throw new Refusal('forbidden', 'Sign-in by password is switched off here.')
    if (password === undefined) throw refusing('invalid_parameter')('password', 'must be given')
    checkNew(password)
    return hashing.hash(password, networkOf(request.ip))
  }

  async function keepProof(tx: Db, memberId: string, hash: string | null, { keep }: Proof): Promise<void> {
    if (hash !== null) await store.setPassword(tx, memberId, hash)
    await keep?.(tx, memberId)
  }

  /** A member who has an account proves to be its owner: the link alone may be in the hands of the admin who made it. */
  async function checkOwner(member: store.MemberRow, proof: Proof, request: FastifyRequest, reply: FastifyReply) {
    const text = cookies.sessionOf(request)
    const session = text && (await credentials.session(text, request))
    if (session && session.principal.id === member.id) return checkConsoleHeader(request)
    if (proof.password === undefined || !passwords)
      throw new Refusal('forbidden', `Sign in as ${member.email} first, then open the link again.`)
    await checkPassword(request, reply, member.email, proof.password)
  }

  /** A newcomer gives a name and a way to sign in; a member who has an account proves to be its owner. */
  async function acceptInvitation(
    code: string,
    found: store.MemberRow,
    given: Proof & { name?: string | undefined },
    { request, reply }: { request: FastifyRequest; reply: FastifyReply }
  ) {
    const name = found.joined_at ? found.name : checkName(given.name)
    if (found.joined_at) await checkOwner(found, given, request, reply)
    const hash = found.joined_at ? null : await hashNew(given, request)
    await managing.change(async (tx) => {
      const link = await redeemLink(tx, code)
      const member = link && (await store.lockMember(tx, link.member_id))
      // Another invitation of the same address was accepted meanwhile: its account is not overwritten.
      if (!member || (member.joined_at === null) !== (found.joined_at === null)) throw gone()
      const at = new Date()
      if (!(await memberships.acceptMembership(tx, member.id, link.project_id, at))) throw gone()
      if (member.joined_at === null) {
        await store.join(tx, member.id, name, at)
        await keepProof(tx, member.id, hash, given)
      }
      // An admin of fewer projects may have made a reset link, which must not open what was just added.
      await removeLinks(tx, member.id, 'reset')
      const details = { email: member.email }
      const entry = { actor: `member ${member.id}`, action: 'member.join', target: member.id, details }
      await managing.audit(tx, link.project_id, entry)
    })
  }

  async function acceptReset(code: string, found: store.MemberRow, given: Proof, request: FastifyRequest) {
    const hash = await hashNew(given, request)
    await managing.change(async (tx) => {
      const link = await redeemLink(tx, code)
      const member = link && (await store.lockMember(tx, link.member_id))
      if (!member?.joined_at) throw gone()
      // A person who knew an earlier proof must not come back with it.
      await store.setPassword(tx, member.id, null)
      await removePasskeysOf(tx, [member.id])
      await keepProof(tx, member.id, hash, given)
      await endSessionsOf(tx, { memberId: member.id })
      const details = { email: found.email }
      const entry = { actor: `member ${found.id}`, action: 'member.password', target: found.id, details }
      await managing.audit(tx, null, entry)
    })
  }

  return {
    /** What a link is for; undefined if it is invalid. */
    async read(code: string, request: FastifyRequest) {
      const found = await find(code, request)
      if (!found) return undefined
      const { link, member } = found
      const roles = await memberships.membershipsOf(pool, member.id)
      const project = link.project_id === null ? undefined : await credentials.project(link.project_id)
      return {
        kind: link.kind,
        email: member.email,
        /** Whether the person has an account and must prove to be its owner. */
        joined: member.joined_at !== null,
        role:
          link.kind === 'invitation'
            ? (roles.find(({ project_id }) => project_id === link.project_id)?.role ?? null)
            : null,
        project: project ? { id: project.id, name: project.name } : null,
        expires_at: link.expires_at
      }
    },
    /** Accepts an invitation or sets a new password, and signs in. */
    async accept(
      code: string,
      given: Proof & { name?: string | undefined },
      request: FastifyRequest,
      reply: FastifyReply
    ): Promise<KnownSession | undefined> {
      const found = await find(code, request)
      if (!found) return undefined
      if (found.link.kind === 'reset') await acceptReset(code, found.member, given, request)
      else await acceptInvitation(code, found.member, given, { request, reply })
      return signIn(found.member.id, 'link', request, reply)
    },
    /** Makes the first member, admin of the whole installation, for a browser that is signed in with an admin token. */
    async makeFirst(
      session: KnownSession,
      given: Proof & { email: string; name: string },
      request: FastifyRequest,
      reply: FastifyReply
    ): Promise<KnownSession | undefined> {
      const { kind, role, id } = session.principal
      if (kind !== 'token' || role !== 'admin')
        throw new Refusal('forbidden', 'The first member is made by an admin token of the whole installation.')
      const email = checkEmail(given.email)
      const name = checkName(given.name)
      const hash = await hashNew(given, request)
      const memberId = await managing.change(async (tx) => {
        // Two that try at once follow one another.
        await holdSetting(tx, 'bootstrapped')
        if (await store.hasMembers(tx))
          throw new Refusal('conflict', 'The installation has members already. Ask one of them to invite you.')
        const at = new Date()
        const member = await store.addMember(tx, newId(), email, at)
        const admin = { project_id: null, role: 'admin', source: 'invitation', accepted_at: at } as const
        await memberships.putMembership(tx, member.id, admin, at)
        await store.join(tx, member.id, name, at)
        await keepProof(tx, member.id, hash, given)
        const details = { email: member.email }
        await managing.audit(tx, null, { actor: `token ${id}`, action: 'member.first', target: member.id, details })
        return member.id
      })
      return signIn(memberId, 'link', request, reply)
    }
  }
}
