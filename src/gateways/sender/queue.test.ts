import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Entry } from './entry.ts'
import { createQueue } from './queue.ts'

type Kind = 'urgent' | 'fresh' | 'repeat'
const entry = (kind: Kind): Entry =>
  ({ push: { urgent: kind === 'urgent', repeat: kind === 'repeat' } }) as unknown as Entry
const kindOf = ({ push }: Entry): Kind => (push.repeat ? 'repeat' : push.urgent ? 'urgent' : 'fresh')

function leaving(waiting: Record<Kind, number>, count: number): Record<Kind, number> {
  const queue = createQueue()
  for (const [kind, many] of Object.entries(waiting) as [Kind, number][])
    for (let n = 0; n < many; n += 1) queue.add(entry(kind))
  const left = { urgent: 0, fresh: 0, repeat: 0 }
  for (let n = 0; n < count; n += 1) left[kindOf(queue.take()!)] += 1
  return left
}

describe('the queue of a pool', () => {
  it('sends urgent pushes before those of a campaign', () => {
    assert.deepEqual(leaving({ urgent: 1, fresh: 100, repeat: 100 }, 1), { urgent: 1, fresh: 0, repeat: 0 })
  })

  it('sends pushes of each kind, however many of the others come', () => {
    assert.deepEqual(leaving({ urgent: 100, fresh: 100, repeat: 100 }, 20), { urgent: 16, fresh: 2, repeat: 2 })
    assert.deepEqual(leaving({ urgent: 0, fresh: 100, repeat: 100 }, 20), { urgent: 0, fresh: 16, repeat: 4 })
    assert.deepEqual(leaving({ urgent: 0, fresh: 0, repeat: 9 }, 9), { urgent: 0, fresh: 0, repeat: 9 })
  })
})
