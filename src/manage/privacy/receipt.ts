import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Static } from '@sinclair/typebox'
import type { Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { sealedColumn } from '../../platform/secrets/sealed.ts'
import { open, seal } from '../../platform/secrets/secrets.ts'
import { addErasureKey, findErasureKey } from './erasure-store.ts'
import type { ErasureAnswer } from './schemas.ts'

/** Bound to its row: a key copied to another project does not open there. */
const contextOf = (projectId: string) => `erasure_key:${projectId}`

sealedColumn({
  table: 'erasure_keys',
  column: 'sealed',
  by: ['project_id'],
  context: ({ project_id }) => contextOf(project_id!)
})

/** What an erasure did. It proves that, and names no person. */
export type Receipt = Omit<Static<typeof ErasureAnswer>, 'signature'>

export type Signer = Awaited<ReturnType<ReturnType<typeof createSigners>>>

/**
 * Hashes ids and signs receipts with a key of the project, which the master key seals. A copy of the database alone does not
 * tell whether a person is among the erased, although ids can be guessed.
 */
export function createSigners(pool: Pool, key: Buffer) {
  async function secretOf(projectId: ProjectId): Promise<Buffer> {
    const fresh = seal(key, contextOf(projectId), randomBytes(32).toString('base64'))
    const sealed = (await findErasureKey(pool, projectId)) ?? (await added(projectId, fresh))
    return Buffer.from(open(key, contextOf(projectId), sealed), 'base64')
  }

  /** Another node may have added one at the same moment: that one counts. */
  async function added(projectId: ProjectId, sealed: string): Promise<string> {
    await addErasureKey(pool, projectId, sealed)
    return (await findErasureKey(pool, projectId)) ?? sealed
  }

  return async (projectId: ProjectId) => {
    const secret = await secretOf(projectId)
    const signatureOf = (receipt: Receipt) =>
      `v1=${createHmac('sha256', secret)
        .update(`receipt:${canonical(receipt)}`)
        .digest('base64url')}`
    return {
      subjectOf: (projectUserId: string): string =>
        createHmac('sha256', secret).update(`subject:${projectUserId}`).digest('hex').slice(0, 40),
      signatureOf,
      isSigned(receipt: Receipt, signature: string): boolean {
        const [expected, given] = [Buffer.from(signatureOf(receipt)), Buffer.from(signature)]
        return expected.length === given.length && timingSafeEqual(expected, given)
      }
    }
  }
}

/** The same text whatever the order of fields, so that a receipt may be stored and formatted as its owner likes. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).toSorted(([one], [two]) => (one < two ? -1 : 1))
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join(',')}}`
}
