import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createCoalescer, roughBytes } from './coalesce.ts'
import { Unavailable } from './errors.ts'
import type { ProjectId } from './ids.ts'

const one = 'one' as ProjectId
const two = 'two' as ProjectId
const dataFault = () => Object.assign(new Error('bad row'), { code: '22P05' })
const tick = () => new Promise((resolve) => setTimeout(resolve, 2))

describe('coalesced writes', () => {
  it('that come together go in one statement, and each caller gets its own answer', async () => {
    const batches: string[][] = []
    const writes = createCoalescer<string, string>(async (_project, batch) => {
      batches.push(batch)
      return batch.map((write) => `${write}!`)
    })
    const answers = await Promise.all(['a', 'b', 'c'].map((key) => writes.write(one, key, key)))
    assert.deepEqual(answers, ['a!', 'b!', 'c!'])
    assert.deepEqual(batches, [['a', 'b', 'c']])
  })

  it('that are many go by halves: while one is at the database, the callers of the other can be served', async () => {
    const batches: number[] = []
    const writes = createCoalescer<number, number>(async (_project, batch) => {
      batches.push(batch.length)
      await tick()
      return batch
    })
    // Callers that write again as soon as they have their result.
    const caller = async (_: unknown, number: number) => {
      for (let times = 0; times < 4; times += 1) await writes.write(one, String(number), number)
    }
    await Promise.all(Array.from({ length: 100 }, caller))
    assert.deepEqual(batches, [50, 50, 50, 50, 50, 50, 50, 50])
  })

  it('of two projects never share a statement', async () => {
    const seen: [string, string[]][] = []
    const writes = createCoalescer<string, string>(async (project, batch) => {
      seen.push([project, batch])
      return batch
    })
    await Promise.all([writes.write(one, 'k', 'x'), writes.write(two, 'k', 'y'), writes.write(one, 'l', 'z')])
    assert.deepEqual(seen, [
      ['one', ['x', 'z']],
      ['two', ['y']]
    ])
  })

  it('of one key stay in order and never overlap, however slow a statement is', async () => {
    const running = new Set<string>()
    const done: number[] = []
    const writes = createCoalescer<{ key: string; number: number }, number>(async (_project, batch) => {
      for (const { key } of batch) {
        assert.ok(!running.has(key), 'a key is at the database once')
        running.add(key)
      }
      await tick()
      for (const { key, number } of batch) {
        running.delete(key)
        if (key === 'hot') done.push(number)
      }
      return batch.map(({ number }) => number)
    })
    const all = Array.from({ length: 30 }, (_, number) => {
      const key = number % 3 === 0 ? `cold${number}` : 'hot'
      return writes.write(one, key, { key, number })
    })
    await Promise.all(all)
    assert.deepEqual(
      done,
      done.toSorted((a, b) => a - b)
    )
    assert.equal(done.length, 20)
  })

  it('a row that the database refuses fails alone', async () => {
    const writes = createCoalescer<string, string>(async (_project, batch) => {
      if (batch.includes('bad')) throw dataFault()
      return batch
    })
    const outcomes = await Promise.allSettled(['a', 'bad', 'c'].map((key) => writes.write(one, key, key)))
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled']
    )
  })

  it('that are large go in several statements, all of them and in order', async () => {
    const batches: number[] = []
    const writes = createCoalescer<string, number>(async (_project, batch) => {
      batches.push(batch.length)
      return batch.map(({ length }) => length)
    }, roughBytes)
    const mebibyte = 'x'.repeat(1024 * 1024)
    const sizes = await Promise.all(
      Array.from({ length: 12 }, (_, number) =>
        writes.write(one, `k${number}`, number === 5 ? mebibyte.repeat(9) : mebibyte)
      )
    )
    assert.equal(sizes.length, 12)
    assert.ok(batches.length >= 4 && batches.every((length) => length <= 4), batches.join())
    assert.equal(
      batches.reduce((sum, length) => sum + length, 0),
      12
    )
  })

  it('one that cannot be written out fails alone', async () => {
    const writes = createCoalescer<string, string>(async (_project, batch) => {
      if (batch.includes('deep')) throw new RangeError('Maximum call stack size exceeded')
      return batch
    })
    const outcomes = await Promise.allSettled(['a', 'deep', 'c'].map((key) => writes.write(one, key, key)))
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled']
    )
  })

  it('a database that is away fails them all, once, and later ones go on', async () => {
    let tries = 0
    const writes = createCoalescer<string, string>(async (_project, batch) => {
      tries += 1
      if (tries === 1) throw new Unavailable('away')
      return batch
    })
    const outcomes = await Promise.allSettled(['a', 'b'].map((key) => writes.write(one, key, key)))
    assert.ok(outcomes.every(({ status }) => status === 'rejected'))
    assert.equal(tries, 1)
    assert.equal(await writes.write(one, 'a', 'again'), 'again')
  })

  it('past a bound are refused instead of gathered', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const writes = createCoalescer<number, number>(async (_project, batch) => {
      await promise
      return batch
    })
    const all = Array.from({ length: 21_500 }, (_, number) => writes.write(one, String(number), number))
    const settled = Promise.allSettled(all)
    await tick()
    resolve()
    const refused = (await settled).filter(({ status }) => status === 'rejected')
    assert.ok(refused.length > 0 && refused.length <= 1_500)
    assert.ok(refused.every((outcome) => (outcome as PromiseRejectedResult).reason instanceof Unavailable))
  })

  it('that are paced wait after several, and share the next statement', async () => {
    const run = async (paced: boolean | 'few', first = ['a', 'b']) => {
      const batches: string[][] = []
      const statement = async (_project: ProjectId, batch: string[]) => {
        batches.push(batch)
        await new Promise((resolve) => setTimeout(resolve, 20))
        return batch
      }
      const writes = createCoalescer<string, string>(statement, undefined, { paced })
      await Promise.all(first.map((key) => writes.write(one, key, key)))
      const third = writes.write(one, 'c', 'c')
      await new Promise((resolve) => setTimeout(resolve, 1))
      await Promise.all([third, writes.write(one, 'd', 'd')])
      return batches.slice(1)
    }
    assert.deepEqual(await run(false), [['c'], ['d']])
    assert.deepEqual(await run(true), [['c', 'd']])
    assert.deepEqual(await run('few'), [['c', 'd']])
    const many = Array.from({ length: 17 }, (_, number) => String(number))
    assert.deepEqual(await run(true, many), [['c', 'd']])
    assert.deepEqual(await run('few', many), [['c'], ['d']])
  })

  it('that are paced wait no longer than until all callers are back', async (t) => {
    const batches: string[][] = []
    const writes = createCoalescer<string, string>(
      async (_project, batch) => {
        batches.push(batch)
        for (const untilMs = performance.now() + 5; performance.now() < untilMs; );
        return batch
      },
      undefined,
      { paced: true }
    )
    await Promise.all(['a', 'b'].map((key) => writes.write(one, key, key)))
    // The pause never ends by itself.
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const third = writes.write(one, 'c', 'c')
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    assert.deepEqual(batches, [['a', 'b']])
    await Promise.all([third, writes.write(one, 'd', 'd')])
    assert.deepEqual(batches, [
      ['a', 'b'],
      ['c', 'd']
    ])
  })

  it('that are paced do not wait after one alone', async () => {
    const writes = createCoalescer<number, number>(async (_project, batch) => batch, undefined, { paced: true })
    for (let number = 0; number < 3; number += 1) assert.equal(await writes.write(one, 'k', number), number)
  })
})
