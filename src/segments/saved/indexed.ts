import type { Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { indexedProperties } from '../../users/users.ts'
import { type AttributeCondition, attributeOf, type Segment } from '../language.ts'
import { hasReference } from '../trigger-reference.ts'
import { batchesWithValue, type IndexedCondition } from './indexed-store.ts'

/** Looking a user up costs twice as much as comparing the next one, so the index serves only a part of the users. */
const mostBatches = 80
const batchSize = 2500

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
  segment: Segment
): Promise<FoundByIndex | undefined> {
  const wanted = necessary(segment)
  if (wanted.length === 0) return undefined
  const known = await indexedProperties(pool, projectId)
  for (const { name, value } of wanted) {
    const property = known.find((one) => one.name === name && one.state === 'ready')
    if (!property) continue
    const condition = { propertyId: property.id, value }
    const starts = await batchesWithValue(pool, projectId, condition, batchSize, mostBatches + 1)
    if (starts.length <= mostBatches) return { condition, isWhole: property.exact && isOne(segment), starts }
  }
  return undefined
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
