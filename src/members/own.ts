import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { refusing } from '../platform/fields.ts'
import { endSessionsOf, type ManageCaller, networkOf } from '../projects/projects.ts'
import { checkNew, type Hashing } from './hashing.ts'
import { removeLinks } from './link-store.ts'
import type { createManaging } from './managing.ts'
import { checkName } from './name.ts'
import { refuseOfProvider } from './oidc/store.ts'
import type { PasswordCheck } from './sign-in.ts'
import * as store from './store.ts'

const freshMs = 15 * 60_000

export interface OwnNeeds {
  pool: Pool
  hashing: Hashing
  checkPassword: PasswordCheck
  managing: Pick<ReturnType<typeof createManaging>, 'change' | 'audit'>
  /** PASSWORD_SIGN_IN. */
  passwords: boolean
}

/** The id of the member that calls. */
export function memberIdOf({ principal }: ManageCaller): string {
  if (principal.kind !== 'member') throw new Refusal('forbidden', 'Only a signed-in member has an account to change.')
  return principal.id
}

/**
 * Adding a way to sign in needs a session that is minutes old: a browser that was left open must not become a lasting way
 * in for another person.
 */
export function checkFresh({ session }: ManageCaller): void {
  if (!session?.createdAt || Date.now() - session.createdAt.getTime() > freshMs)
    throw new Refusal('forbidden', 'Sign in again first: this needs a sign-in within the last 15 minutes.')
}

/** What members change about themselves. */
export function createOwn({ pool, hashing, checkPassword, managing, passwords }: OwnNeeds) {
  return {
    async read(id: string) {
      const { email, name, has_password } = (await store.findMember(pool, id))!
      return { id, email, name, has_password }
    },
    async rename(caller: ManageCaller, name: string): Promise<void> {
      const id = memberIdOf(caller)
      const checked = checkName(name)
      await managing.change((tx) => store.rename(tx, id, checked))
    },
    /** Sets a new password and ends the other sessions. */
    async changePassword(
      caller: ManageCaller,
      { current, password }: { current?: string | undefined; password: string },
      request: FastifyRequest,
      reply: FastifyReply
    ): Promise<void> {
      const id = memberIdOf(caller)
      if (!passwords) throw new Refusal('forbidden', 'Sign-in by password is switched off here.')
      checkNew(password)
      await refuseOfProvider(pool, id)
      if ((await store.findMember(pool, id))?.has_password) await checkCurrent(caller, current, request, reply)
      else checkFresh(caller)
      const hash = await hashing.hash(password, networkOf(request.ip))
      await managing.change(async (tx) => {
        await store.setPassword(tx, id, hash)
        await removeLinks(tx, id, 'reset')
        await endSessionsOf(tx, { memberId: id }, caller.session?.id ?? null)
        const details = { email: caller.principal.email }
        await managing.audit(tx, null, { actor: caller.actor, action: 'member.password', target: id, details })
      })
    }
  }

  async function checkCurrent(
    { principal }: ManageCaller,
    current: string | undefined,
    request: FastifyRequest,
    reply: FastifyReply
  ): Promise<void> {
    if (current === undefined) throw refusing('invalid_parameter')('current', 'must be given')
    await checkPassword(request, reply, principal.email!, current).catch((error: unknown) => {
      // Not 401: the session is valid, and a page would sign out.
      if (error instanceof Refusal && error.code === 'invalid_sign_in')
        throw refusing('invalid_parameter')('current', 'is not your password')
      throw error
    })
  }
}
