import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from '../platform/db/db.ts'
import { againIfRaced } from '../platform/db/races.ts'
import { Refusal } from '../platform/errors.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import { defineJob, type JobContext } from '../platform/jobs/definition.ts'
import { add } from '../platform/jobs/jobs.ts'
import * as store from './index-store.ts'
import { checkPropertyName } from './properties.ts'

/** Each one adds a row for each user who has the property, and a write to each change of it. */
export const maxIndexed = 10
const batchSize = 2_000
const beforeAll = '00000000-0000-0000-0000-000000000000'
/** Longer than a statement takes from its snapshot to its first write. */
const snapshotMs = 500
const pollMs = 100

interface Work {
  projectId: ProjectId
  id: string
}

/** The properties that a project chose to find users by. */
export function createIndexes(pool: Pool) {
  const job = defineJob<Work>({
    name: 'users.index',
    async run({ projectId, id }, context) {
      const property = await store.findIndexedProperty(pool, projectId, id)
      if (property?.state === 'building') await build(pool, projectId, property, context)
      if (property?.state === 'removing') await remove(pool, projectId, id, context)
    }
  })

  return {
    jobs: [job],
    indexed: (projectId: ProjectId) => store.indexedProperties(pool, projectId),

    /** Begins to index a property. A property that is indexed already stays as it is. Returns whether it is new. */
    index: (projectId: ProjectId, name: string): Promise<boolean> =>
      pool.transaction(async (tx) => {
        checkPropertyName(name)
        if (!(await store.lockIndexedProperties(tx, projectId))) throw new Refusal('not_found', 'Not found.')
        const known = await store.indexedProperties(tx, projectId)
        if (known.some((one) => one.name === name)) return false
        if (known.length >= maxIndexed)
          throw new Refusal('conflict', `A project has at most ${maxIndexed} indexed properties. Remove one first.`)
        const id = newId()
        await store.insertIndexedProperty(tx, projectId, { id, name, at: new Date() })
        await add(tx, job, { projectId, id }, { projectId, key: id })
        return true
      }),

    /** Searches stop using the index at once; a job removes it. Returns whether there was one. */
    unindex: (projectId: ProjectId, name: string): Promise<boolean> =>
      pool.transaction(async (tx) => {
        const id = await store.retireIndexedProperty(tx, projectId, name)
        if (id === undefined) return false
        await add(tx, job, { projectId, id }, { projectId, key: id })
        return true
      })
  }
}

/**
 * Writes the values of all users. Every statement that begins from now on writes the values of the users it changes, so
 * only those that began before must end first: their users could be missed.
 */
async function build(
  pool: Pool,
  projectId: ProjectId,
  property: store.IndexedProperty,
  context: JobContext
): Promise<void> {
  if (property.last_user_id === null) await othersEnd(pool, context)
  const { id, name } = property
  let after = property.last_user_id ?? beforeAll
  for (let building = true; building; ) {
    context.signal.throwIfAborted()
    // A user may be deleted between reading and writing.
    building = await againIfRaced(() =>
      pool.transaction(async (tx) => {
        const { last, seen } = await store.buildIndexedValues(tx, projectId, { id, name, after, size: batchSize })
        const ready = seen < batchSize
        const kept = await store.advanceIndexedProperty(tx, projectId, { id, last: last ?? after, seen, ready })
        after = last ?? after
        return kept && !ready
      })
    )
  }
}

/** Waits for all transactions that may not know of the property. Meanwhile other jobs run. */
async function othersEnd(pool: Pool, { signal, freeSlot }: JobContext): Promise<void> {
  freeSlot()
  await delay(snapshotMs, undefined, { signal })
  const next = await store.nextTransaction(pool)
  while (!(await store.endedBefore(pool, next, pool.isDistributed))) await delay(pollMs, undefined, { signal })
}

async function remove(pool: Pool, projectId: ProjectId, id: string, { signal }: JobContext): Promise<void> {
  while ((await store.removeIndexedValues(pool, projectId, id)) > 0) signal.throwIfAborted()
  await store.removeIndexedProperty(pool, projectId, id)
}
