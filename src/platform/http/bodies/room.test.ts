import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRoom } from './room.ts'

describe('room for decompressed bodies', () => {
  it('is bounded for each caller and for all of them, and is passed on when it is freed', async () => {
    const room = createRoom({ ofNode: 10, ofOne: 6, longestMs: 60_000 })
    const first = await room.take('a', 6)
    const began: string[] = []
    const take = async (caller: string) => {
      const free = await room.take(caller, 4)
      began.push(caller)
      return free
    }
    const [again, other, third] = [take('a'), take('b'), take('c')]
    const freeOther = await other
    assert.deepEqual([began, room.stats()], [['b'], { bytes: 10, waiting: 2 }])
    first()
    first()
    const freeAgain = await again
    assert.deepEqual([began, room.stats()], [['b', 'a'], { bytes: 8, waiting: 1 }])
    freeOther()
    const freeThird = await third
    freeAgain()
    freeThird()
    assert.deepEqual([began, room.stats()], [['b', 'a', 'c'], { bytes: 0, waiting: 0 }])
  })

  it('is refused to a caller whose bodies hold it for too long', async () => {
    const room = createRoom({ ofNode: 10, ofOne: 6, longestMs: 10 })
    const free = await room.take('a', 100)
    await assert.rejects(room.take('a', 1), { code: 'rate_limited' })
    free()
    ;(await room.take('a', 1))()
  })
})
