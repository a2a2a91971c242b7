import { type NotStored, readEntry } from '../../devices/import/entries.ts'
import type { Batch } from './batches.ts'
import type { Stored } from './sending.ts'

/** Requests at once: the service writes one batch while the next ones travel. */
const mostFlying = 3

interface Flying {
  batch: Batch
  names: Set<string>
  stored: Promise<Stored>
}

/**
 * Sends batches, some at once, and settles them in the order of the file. Two batches that share a user or a device wait
 * for each other, so that the later line wins.
 */
export function createLanes(
  send: (batch: Batch) => Promise<Stored>,
  settled: (batch: Batch, stored: Stored) => Promise<void>
) {
  const flying: Flying[] = []

  async function settleOldest(): Promise<void> {
    const { batch, stored } = flying[0]!
    const result = await stored
    flying.shift()
    await settled(batch, result)
  }

  return {
    async push(batch: Batch): Promise<void> {
      const names = namesIn(batch)
      while (flying.length >= mostFlying || flying.some((other) => !other.names.isDisjointFrom(names)))
        await settleOldest()
      const stored = batch.entries.length > 0 ? send(batch) : Promise.resolve({ users: 0, devices: 0, errors: [] })
      stored.catch(() => {}) // It is awaited in its turn.
      flying.push({ batch, names, stored })
    },
    async end(): Promise<void> {
      while (flying.length > 0) await settleOldest()
    },
    /** Waits for what is on its way, and settles what was stored before the first failure. */
    async abandon(): Promise<void> {
      await Promise.allSettled(flying.map(({ stored }) => stored))
      await this.end().catch(() => {})
    }
  }
}

function namesIn({ entries }: Batch): Set<string> {
  const names = new Set<string>()
  for (const { body } of entries) {
    if (body.project_user_id !== undefined) names.add(`user ${body.project_user_id}`)
    for (const device of body.devices) names.add(`device ${(device as { id: string }).id}`)
  }
  return names
}

/** Checks a batch by the code of the service, and stores nothing. */
export async function tried({ entries }: Batch): Promise<Stored> {
  const errors: NotStored[] = []
  const stored: Stored = { users: 0, devices: 0, errors }
  for (const [index, { body }] of entries.entries()) {
    const read = readEntry(body, index, new Map(), errors)
    if (read?.projectUserId !== undefined) stored.users += 1
    stored.devices += read?.devices.length ?? 0
  }
  return stored
}
