import type { Db } from '../../platform/db/db.ts'
import { newId } from '../../platform/ids.ts'
import { endSessionsOf, recordAudit, recordInstallation } from '../../projects/projects.ts'
import { readEmail } from '../email.ts'
import { removeLinks } from '../link-store.ts'
import { type Membership, membershipsOf, putMembership, removeMembership, type Scope } from '../membership-store.ts'
import { addMember, findMember, join, retireMembers } from '../store.ts'
import type { Claims } from './claims.ts'
import type { Grant } from './roles.ts'
import * as identities from './store.ts'

/**
 * Finds or makes the member of an identity and writes its roles, in the transaction of a sign-in. Returns undefined if
 * no group grants a role: a member who had one loses it, and its sessions end.
 */
export async function admit(tx: Db, claims: Claims, grants: Grant[]): Promise<string | undefined> {
  const at = new Date()
  const known = await knownMember(tx, claims)
  if (grants.length === 0) {
    if (known) await dismiss(tx, known, at)
    return undefined
  }
  const memberId = known ?? (await newMember(tx, claims, at))
  await identities.markIdentityUsed(tx, claims, at)
  await writeRoles(tx, memberId, grants, at)
  return memberId
}

/** The member of the identity, unless an admin has removed it: then the identity is as new. */
async function knownMember(tx: Db, claims: Claims): Promise<string | undefined> {
  const memberId = await identities.memberOfIdentity(tx, claims)
  if (!memberId || (await findMember(tx, memberId))) return memberId
  await identities.removeIdentitiesOf(tx, [memberId])
  return undefined
}

async function newMember(tx: Db, claims: Claims, at: Date): Promise<string> {
  const id = newId()
  // Written first: another sign-in of the same person at the same time waits here, and then finds the member.
  if (!(await identities.addIdentity(tx, claims, id, at))) return (await identities.memberOfIdentity(tx, claims))!
  const member = (await invited(tx, id, claims, at)) ?? (await addMember(tx, id, ownKey(claims), at))
  if (member.id !== id) await identities.setIdentityMember(tx, claims, member.id)
  await join(tx, member.id, claims.name ?? claims.subject, at)
  // From now on only the provider signs this member in.
  await removeLinks(tx, member.id, 'invitation')
  await removeLinks(tx, member.id, 'reset')
  return member.id
}

/**
 * The member with the address of the person: one who was invited and has not joined, or a new one. An address that the
 * provider has not verified, or that belongs to a member who signs in another way, proves nothing.
 */
async function invited(tx: Db, id: string, { email, emailVerified }: Claims, at: Date) {
  const address = email && emailVerified ? readEmail(email) : undefined
  const member = address && (await addMember(tx, id, address, at))
  return member && member.joined_at === null ? member : undefined
}

/** In place of an address: the identity itself, which no address can equal, because it has a space. */
const ownKey = ({ issuer, subject }: Claims) => ({ shown: '', key: `${issuer} ${subject}` })

/** The groups alone decide: other roles of the member end. */
async function writeRoles(tx: Db, memberId: string, grants: Grant[], at: Date): Promise<void> {
  const before = await membershipsOf(tx, memberId)
  for (const { project_id, role } of before)
    if (!grants.some((grant) => grant.project_id === project_id)) {
      await removeMembership(tx, memberId, project_id)
      await audit(tx, memberId, project_id, 'member.remove', { role })
    }
  for (const grant of grants) {
    const scope = grant.project_id as Scope
    const had = before.find(({ project_id }) => project_id === scope)
    if (had?.role === grant.role && had.source === 'oidc' && had.accepted_at) continue
    const membership: Membership = { project_id: scope, role: grant.role, source: 'oidc', accepted_at: at }
    await putMembership(tx, memberId, membership, at)
    await audit(tx, memberId, scope, had ? 'member.role' : 'member.join', { role: grant.role })
  }
}

/** Ends a member who has lost the last group. The same person gets the same member back after a return. */
async function dismiss(tx: Db, memberId: string, at: Date): Promise<void> {
  for (const { project_id, role } of await membershipsOf(tx, memberId)) {
    await removeMembership(tx, memberId, project_id)
    await audit(tx, memberId, project_id, 'member.remove', { role })
  }
  await endSessionsOf(tx, { memberId })
  await retireMembers(tx, [memberId], at)
  await identities.removeIdentitiesOf(tx, [memberId])
}

/** To the audit log of the project, or to that of the installation. */
async function audit(tx: Db, memberId: string, scope: Scope, action: string, details: object): Promise<void> {
  const entry = { actor: `member ${memberId}`, action, target: memberId, details: { ...details, source: 'oidc' } }
  if (scope === null) await recordInstallation(tx, entry)
  else await recordAudit(tx, scope, entry)
}
