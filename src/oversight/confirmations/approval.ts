import type { Db } from '../../platform/db/db.ts'
import { claimKey, findClaims, type IdempotencyKey } from '../../platform/idempotency/idempotency.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { type ApprovalState, listApprovals } from '../approvals/store.ts'

/** The task that waits, or waited, for the approval that a confirmation asked for. */
interface Asking {
  taskId: string
}

/** Thrown by a transaction whose confirmation has asked for an approval meanwhile: redeem the confirmation again. */
export class AskedMeanwhile extends Error {}

const keyOf = (confirmation: IdempotencyKey): IdempotencyKey => ({ ...confirmation, scope: 'confirmation-approval' })

/** Of several yeses at once, the first transaction to get here asks a person. */
export async function claimApproval(
  tx: Db,
  projectId: ProjectId,
  confirmation: IdempotencyKey,
  asking: Asking,
  hours: number
): Promise<void> {
  const claim = await claimKey(tx, projectId, keyOf(confirmation), asking, hours)
  if (claim.state !== 'begun') throw new AskedMeanwhile('This confirmation has asked for an approval already.')
}

export type AskedBefore = { kind: 'asked'; taskId: string; reason: string } | { kind: 'unknown'; reason: string }

/**
 * The approval that an earlier yes asked for; undefined if none did. A superseded approval is followed by another one of
 * the same task, so the newest one counts.
 */
export async function approvalAsked(
  db: Db,
  projectId: ProjectId,
  confirmation: IdempotencyKey
): Promise<AskedBefore | undefined> {
  const key = keyOf(confirmation)
  const claim = (await findClaims<Asking, never>(db, projectId, [key])).get(key.key)
  const taskId = claim?.state === 'running' ? claim.work?.taskId : undefined
  if (taskId === undefined) return undefined
  const [approval] = await listApprovals(db, projectId, { taskId }, null, 1)
  const state: ApprovalState = approval?.state ?? 'expired'
  if (state === 'pending' || state === 'approved')
    return { kind: 'asked', taskId, reason: `This confirmationId has asked for an approval, which is ${state}.` }
  const verb = state === 'expired' ? 'has' : 'was'
  return {
    kind: 'unknown',
    reason: `The approval that this confirmationId asked for ${verb} ${state}, and the id is used up. Ask for a preview of the campaign again.`
  }
}
