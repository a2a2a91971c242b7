import type { Devices } from '../../devices/devices.ts'
import { Refusal } from '../../platform/errors.ts'
import { isUuid, newId, type ProjectId } from '../../platform/ids.ts'
import { recordAudit } from '../../projects/projects.ts'
import type { Users } from '../../users/users.ts'
import { eraseCopies, type Traces } from './copies.ts'
import { countOfUsers, type ErasureRow, findErasure, insertErasure, listErasures } from './erasure-store.ts'
import { createSigners, type Receipt } from './receipt.ts'
import { type Keeping, remainingOf } from './remaining.ts'
import { type Counts, type Eraser, Touched } from './rewriting.ts'
import { tracesOf } from './traces.ts'

export interface ErasureNeeds extends Eraser {
  key: Buffer
  users: Users
  devices: Devices
  keeping: Keeping
  /** Empties the journal of accepted pushes, which names devices. */
  forgetOutcomes: () => void
}

export type Erasures = ReturnType<typeof createErasures>

export type SignedReceipt = Receipt & { signature: string }

/** Erases users with everything that keeps a copy, and keeps a receipt of each erasure. */
export function createErasures({ key, users, devices, keeping, forgetOutcomes, ...eraser }: ErasureNeeds) {
  const { pool } = eraser
  const signerOf = createSigners(pool, key)

  /** Copies first: an erasure that is interrupted then still finds the devices of the user when it is repeated. */
  async function eraseAll(projectId: ProjectId, traces: Traces): Promise<{ erased: Counts; working: number }> {
    const touched = new Touched()
    const before = await eraseCopies(eraser, projectId, traces, touched)
    let rows: Counts = { users: 0 }
    await users.erase(projectId, traces.projectUserId, async (tx, _, userIds) => {
      rows = await countOfUsers(tx, projectId, userIds)
    })
    // Messages that the deletion canceled, and what was written meanwhile.
    const after = await eraseCopies(eraser, projectId, traces, touched)
    forgetOutcomes()
    return { erased: summed(before.named, rows, after.named, touched.counts()), working: after.working }
  }

  return {
    /** Also for a user that was deleted before: copies may be left. */
    async erase(projectId: ProjectId, actor: string, projectUserId: string): Promise<SignedReceipt> {
      const requestedAt = new Date()
      const signer = await signerOf(projectId)
      const { traces, unsearched } = await tracesOf({ pool, users, devices }, projectId, projectUserId)
      const { erased, working } = await eraseAll(projectId, traces)
      const receipt: Receipt = {
        erasure_id: newId(),
        project_id: projectId,
        subject: signer.subjectOf(projectUserId),
        actor,
        requested_at: requestedAt.toISOString(),
        completed_at: new Date().toISOString(),
        erased,
        remaining: await remainingOf(pool, projectId, { traces, working, unsearched }, keeping)
      }
      const signed = { ...receipt, signature: signer.signatureOf(receipt) }
      await pool.transaction(async (tx) => {
        await insertErasure(tx, projectId, toRow(signed))
        const details = { rows: Object.values(erased).reduce((sum, rows) => sum + rows, 0) }
        await recordAudit(tx, projectId, { actor, action: 'user.erase', target: receipt.erasure_id, details })
      })
      return signed
    },

    async list(projectId: ProjectId, after: string | null, limit: number, projectUserId: string | undefined) {
      const subject = projectUserId === undefined ? undefined : (await signerOf(projectId)).subjectOf(projectUserId)
      return (await listErasures(pool, projectId, after, limit, subject)).map((row) => toReceipt(projectId, row))
    },

    async get(projectId: ProjectId, id: string): Promise<SignedReceipt> {
      const row = isUuid(id) ? await findErasure(pool, projectId, id.toLowerCase()) : undefined
      if (!row) throw new Refusal('not_found', 'No erasure has this id.')
      return toReceipt(projectId, row)
    },

    /** Whether this project issued the receipt as it is, and whether it is about a user. */
    async verify(projectId: ProjectId, { signature, ...receipt }: SignedReceipt, projectUserId: string | undefined) {
      const { isSigned, subjectOf } = await signerOf(projectId)
      return {
        valid: receipt.project_id === projectId && isSigned(receipt, signature),
        same_user: projectUserId === undefined ? null : subjectOf(projectUserId) === receipt.subject
      }
    }
  }
}

function summed(...all: Counts[]): Counts {
  const sum: Counts = {}
  for (const counts of all) for (const [table, rows] of Object.entries(counts)) sum[table] = (sum[table] ?? 0) + rows
  return Object.fromEntries(Object.entries(sum).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

const toRow = ({ erasure_id, project_id: _, requested_at, completed_at, ...rest }: SignedReceipt): ErasureRow => ({
  ...rest,
  id: erasure_id,
  requested_at: new Date(requested_at),
  completed_at: new Date(completed_at)
})

const toReceipt = (projectId: ProjectId, { id, ...row }: ErasureRow): SignedReceipt => ({
  erasure_id: id,
  project_id: projectId,
  subject: row.subject,
  actor: row.actor,
  requested_at: row.requested_at.toISOString(),
  completed_at: row.completed_at.toISOString(),
  erased: row.erased,
  remaining: row.remaining,
  signature: row.signature
})
