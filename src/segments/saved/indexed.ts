import type { Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { steadyMs } from '../../platform/time.ts'
import { indexedProperties } from '../../users/users.ts'
import { type AttributeCondition, attributeOf, type Segment } from '../language.ts'
import { SegmentFailed } from '../store.ts'
import { hasReference } from '../trigger-reference.ts'
import { patiently, SegmentBusy } from '../turns.ts'
import { batchesWithValue, type IndexedCondition } from './indexed-store.ts'

/** Looking a user up costs twice as much as comparing the next one, so the index serves only a part of the users. */
const mostBatches = 80
const batchSize = 2500
/** How long it looks for an index that serves. A frequent value takes 0.1 to 0.3 s until it is known to be one. */
const searchMs = 500

/** A value that every user of the segment has, and the first user of each batch of those that an index names. */
export interface FoundByIndex {
  condition: IndexedCondition
  /** The segment is this condition, and the index names exactly the users who meet it. */
  isWhole: boolean
  starts: string[]
}

/** What an indexed property says about the users of a segment; undefined: all users are compared. */
export async function findByIndex(
  pool: Pool,
  projectId: ProjectId,
  segment: Segment,
  signal?: AbortSignal
): Promise<FoundByIndex | undefined> {
  const wanted = necessary(segment)
  if (wanted.length === 0) return undefined
  const unasked = await readyProperties(pool, projectId)
  const until = steadyMs() + searchMs
  for (const { name, value } of wanted) {
    const property = unasked.get(name)
    // A second value of the same property finds as many users or more than match: none.
    if (!unasked.delete(name) || !property) continue
    signal?.throwIfAborted()
    if (steadyMs() > until) return undefined
    const condition = { propertyId: property.id, value }
    const starts = await startsOf(pool, projectId, condition, until)
    if (starts && starts.length <= mostBatches) return { condition, isWhole: property.exact && isOne(segment), starts }
  }
  return undefined
}

/** Whether the index is still kept: the rows of one that was removed are deleted, and what they name is too little. */
export const isKept = async (pool: Pool, projectId: ProjectId, { condition }: FoundByIndex): Promise<boolean> =>
  [...(await readyProperties(pool, projectId)).values()].some(({ id }) => id === condition.propertyId)

const readyProperties = async (pool: Pool, projectId: ProjectId) =>
  new Map(
    (await indexedProperties(pool, projectId)).filter(({ state }) => state === 'ready').map((one) => [one.name, one])
  )

/** The first user of each batch; undefined if it took too long, or other segments of the project took all turns. */
async function startsOf(pool: Pool, projectId: ProjectId, condition: IndexedCondition, until: number) {
  try {
    return await patiently(() => batchesWithValue(pool, projectId, condition, batchSize, mostBatches + 1), until)
  } catch (error) {
    if (error instanceof SegmentBusy || error instanceof SegmentFailed) return undefined
    throw error
  }
}

/** Whether the segment has one condition only. */
const isOne = (segment: Segment): boolean =>
  'all' in segment ? segment.all.length === 1 && isOne(segment.all[0]!) : 'attribute' in segment

/** The conditions that must all hold and compare a property with one value. Numbers are left out: 1 and 1.0 are equal, but not in the index. */
function necessary(segment: Segment): { name: string; value: string | boolean }[] {
  if ('all' in segment) return segment.all.flatMap(necessary)
  if (!('attribute' in segment)) return []
  const attribute = attributeOf(segment.attribute, 'segment')
  if (attribute?.kind !== 'json') return []
  const value = onlyValue(segment)
  if (typeof value === 'boolean') return [{ name: attribute.name, value }]
  return typeof value === 'string' && !hasReference(value) ? [{ name: attribute.name, value }] : []
}

/** The value that the condition asks for, alone or as a list of one. */
function onlyValue({ operator, value }: AttributeCondition): unknown {
  if (operator === 'equals') return value
  return operator === 'in' && Array.isArray(value) && value.length === 1 ? value[0] : undefined
}
