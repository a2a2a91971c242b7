import type { Db, Pool } from '../platform/db/db.ts'
import { notify } from '../platform/db/store.ts'
import { Refusal } from '../platform/errors.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import {
  type Credentials,
  changedChannel,
  endSessionsOf,
  hasAdminToken,
  type ManageCaller,
  noSuchProject,
  type Role,
  recordAudit,
  recordInstallation
} from '../projects/projects.ts'
import { checkEmail } from './email.ts'
import { type LinkKind, makeLink, removeLink, removeLinks, removeLinksOfProject } from './link-store.ts'
import type { Scope } from './membership-store.ts'
import * as memberships from './membership-store.ts'
import { refuseOfProvider } from './oidc/store.ts'
import * as store from './store.ts'

export type Inviter = Pick<ManageCaller, 'actor' | 'principal' | 'reach'>

export interface ManagingNeeds {
  pool: Pool
  credentials: Pick<Credentials, 'forget' | 'project'>
  log: Log
  /** Deletes everything else by which these people could sign in. */
  onRetired: (tx: Db, memberIds: string[]) => Promise<void>
}

/** A link for one person: it works once. The code stands behind the #, which browsers send to no server. */
export interface MadeLink {
  path: string
  expires_at: Date
}

const wireLink = (kind: LinkKind, { text, expiresAt }: { text: string; expiresAt: Date }): MadeLink => ({
  path: `/console/#${kind}=${text}`,
  expires_at: expiresAt
})

export const scopeName = (scope: Scope) => (scope === null ? 'the whole installation' : `the project ${scope}`)

/** Invites, changes and removes members. Each admin decides about the projects that it administers, and no others. */
export function createManaging({ pool, credentials, log, onRetired }: ManagingNeeds) {
  /** One transaction, after which every node reads the roles again. */
  async function change<Result>(work: (tx: Db) => Promise<Result>): Promise<Result> {
    const result = await pool.transaction(async (tx) => {
      const done = await work(tx)
      await tx.run(notify, [changedChannel, 'members'])
      return done
    })
    credentials.forget()
    return result
  }

  /** Changes of the whole installation are in the service's own log too, for programs that watch it. */
  async function audit(
    tx: Db,
    scope: Scope,
    entry: { actor: string; action: string; target: string; details?: object }
  ) {
    const written = entry as Parameters<typeof recordInstallation>[1]
    if (scope !== null) await recordAudit(tx, scope, written)
    else {
      await recordInstallation(tx, written)
      log.info(entry, 'audit')
    }
  }

  async function checkScope(caller: Inviter, scope: Scope): Promise<void> {
    const own = caller.reach('admin')
    if (own !== null && (scope === null || !own.includes(scope)))
      throw new Refusal('forbidden', `You manage the members of the project ${own.join(', ')} only.`)
    if (scope !== null && !(await credentials.project(scope))) throw noSuchProject(scope)
  }

  /** The member, locked, with those memberships that the caller decides about. Others are as good as absent. */
  async function managed(tx: Db, caller: Inviter, memberId: string) {
    const member = await store.lockMember(tx, memberId)
    const own = caller.reach('admin')
    const all = await memberships.membershipsOf(tx, memberId)
    const mine = all.filter(({ project_id }) => own === null || (project_id !== null && own.includes(project_id)))
    if (!member || mine.length === 0) throw new Refusal('not_found', 'There is no such member.')
    return { member, all, mine }
  }

  /** The installation must keep an admin: another member, or a token. */
  async function keepAdmin(tx: Db, memberId: string, { project_id, role, accepted_at }: memberships.Membership) {
    if (project_id !== null || role !== 'admin' || accepted_at === null) return
    const admins = await memberships.lockInstallationAdmins(tx)
    if (admins.some((id) => id !== memberId) || (await hasAdminToken(tx))) return
    throw new Refusal(
      'conflict',
      'This is the last admin of the installation. Make another member admin of the whole installation first.'
    )
  }

  async function retire(tx: Db, memberId: string): Promise<void> {
    const retired = await store.retireMembers(tx, [memberId], new Date())
    if (retired.length === 0) return
    await removeLinks(tx, memberId, 'reset')
    await onRetired(tx, retired)
  }

  return {
    change,
    audit,
    /** Invites an address, or renews an invitation that was not accepted. The role counts once it is accepted. */
    async invite(caller: Inviter, given: { email: string; role: Role; scope: Scope }) {
      const { role, scope } = given
      const email = checkEmail(given.email)
      await checkScope(caller, scope)
      return change(async (tx) => {
        const at = new Date()
        const member = await store.addMember(tx, newId(), email, at)
        await store.lockMember(tx, member.id)
        await refuseOfProvider(tx, member.id)
        const known = (await memberships.membershipsOf(tx, member.id)).find(({ project_id }) => project_id === scope)
        if (known?.accepted_at)
          throw new Refusal('conflict', `${member.email} is a member of ${scopeName(scope)} already. Change the role.`)
        const wanted = { project_id: scope, role, source: 'invitation' as const, accepted_at: null }
        await memberships.putMembership(tx, member.id, wanted, at)
        const link = await makeLink(tx, member.id, 'invitation', scope, caller.principal.id)
        const details = { email: member.email, role }
        await audit(tx, scope, { actor: caller.actor, action: 'member.invite', target: member.id, details })
        return { memberId: member.id, invitation: wireLink('invitation', link) }
      })
    },
    async changeRole(caller: Inviter, memberId: string, scope: Scope, role: Role): Promise<void> {
      await checkScope(caller, scope)
      await change(async (tx) => {
        const { member, mine } = await managed(tx, caller, memberId)
        const known = mine.find(({ project_id }) => project_id === scope)
        if (!known) throw new Refusal('not_found', `${member.email} is not a member of ${scopeName(scope)}.`)
        if (known.source === 'oidc')
          throw new Refusal('conflict', 'This role comes from the identity provider and is read at each sign-in.')
        if (role !== 'admin') await keepAdmin(tx, memberId, known)
        await memberships.changeRole(tx, memberId, scope, role)
        const details = { email: member.email, role, before: known.role }
        await audit(tx, scope, { actor: caller.actor, action: 'member.role', target: memberId, details })
      })
    },
    /** Removes a member from one scope; undefined: from everything that the caller administers. Ends all sessions. */
    async remove(caller: Inviter, memberId: string, only: Scope | undefined): Promise<void> {
      await change(async (tx) => {
        const { member, mine } = await managed(tx, caller, memberId)
        const ending = mine.filter(({ project_id }) => only === undefined || project_id === only)
        if (ending.length === 0) throw new Refusal('not_found', 'There is no such member.')
        for (const membership of ending) {
          await keepAdmin(tx, memberId, membership)
          await memberships.removeMembership(tx, memberId, membership.project_id)
          await removeLink(tx, memberId, 'invitation', membership.project_id)
          const details = { email: member.email, role: membership.role }
          const entry = { actor: caller.actor, action: 'member.remove', target: memberId, details }
          await audit(tx, membership.project_id, entry)
        }
        await retire(tx, memberId)
        // Any admin may invite any address: that an invitation is taken back must change nothing for its person elsewhere.
        if (ending.every(({ accepted_at }) => accepted_at === null)) return
        // A link was made for what the member belonged to when it was made.
        await removeLinks(tx, memberId, 'reset')
        await endSessionsOf(tx, { memberId })
      })
    },
    /**
     * Makes a link that sets a new password. Only an admin of everything that the member belongs to may make it: with the
     * link one could sign in as the member.
     */
    async reset(caller: Inviter, memberId: string): Promise<MadeLink> {
      return change(async (tx) => {
        const { member, all, mine } = await managed(tx, caller, memberId)
        await refuseOfProvider(tx, memberId)
        // An invitation by others, which the member has not accepted, takes nothing from the admins of the member.
        const accepted = all.filter(({ accepted_at }) => accepted_at !== null)
        const own = accepted.length > 0 ? accepted : all
        if (own.some((one) => !mine.includes(one)))
          throw new Refusal(
            'forbidden',
            `${member.email} belongs to projects that you do not administer. Ask an admin of the whole installation.`
          )
        if (!member.joined_at)
          throw new Refusal('conflict', `${member.email} has not accepted the invitation. Invite the address again.`)
        const link = await makeLink(tx, memberId, 'reset', null, caller.principal.id)
        for (const { project_id } of own) {
          const details = { email: member.email }
          await audit(tx, project_id, { actor: caller.actor, action: 'member.reset', target: memberId, details })
        }
        return wireLink('reset', link)
      })
    },
    /** Deletes a batch of the memberships of a project that is erased, and returns their number. */
    async eraseWindow(tx: Db, projectId: ProjectId): Promise<number> {
      await removeLinksOfProject(tx, projectId)
      const ended = await memberships.removeOfProjectBatch(tx, projectId, 100)
      if (ended.length === 0) return 0
      const ids = ended.map(({ member_id }) => member_id)
      // An invitation at the same time holds the row of its member until its membership is written.
      for (const id of ids.toSorted()) await store.lockMember(tx, id)
      const retired = await store.retireMembers(tx, ids, new Date())
      // An open invitation of the project changes nothing for its person elsewhere, as in `remove`.
      const accepted = ended.filter((one) => one.accepted).map(({ member_id }) => member_id)
      for (const memberId of new Set([...accepted, ...retired])) await removeLinks(tx, memberId, 'reset')
      for (const memberId of retired) await endSessionsOf(tx, { memberId })
      if (retired.length > 0) await onRetired(tx, retired)
      await tx.run(notify, [changedChannel, 'members'])
      return ids.length
    }
  }
}
