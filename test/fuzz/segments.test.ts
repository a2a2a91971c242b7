import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Pool } from '../../src/platform/db/db.ts'
import type { ProjectId } from '../../src/platform/ids.ts'
import { type CompiledSegment, compileSegment, parseSegment } from '../../src/segments/segments.ts'
import { firstUser, type Match, matchBatch, type Place, type SegmentAt } from '../../src/segments/store.ts'
import { matching, usesDevice, type World } from '../segments/model.ts'
import { leaves, makeWorld, now, projectId, segments, storeWorld, triggers } from '../segments/world.ts'
import { testPool } from '../support/database.ts'
import fc from '../support/fuzz.ts'

const long = process.env.TIDINGS_LONG !== undefined
/** The number of sets of people, and of conditions tried on each. A set has all kinds of people. */
const [worlds, tries] = long ? [20, 500] : [2, 60]

async function selected(pool: Pool, { usesDevice, condition, values }: CompiledSegment): Promise<string[]> {
  const devices = usesDevice ? 'join devices d on d.project_id = $1 and d.user_id = u.id' : ''
  const rows = await pool.adhoc<{ id: string; holds: boolean | null }>(
    `select ${usesDevice ? 'd' : 'u'}.id::text as id, ${condition} as holds from users u ${devices} where u.project_id = $1`,
    [projectId, ...values]
  )
  assert.ok(
    rows.every(({ holds }) => typeof holds === 'boolean'),
    'a condition is true or false, never null'
  )
  return rows.filter(({ holds }) => holds).map(({ id }) => id)
}

/** Reads as a broadcast does: in small windows, some of which end within a user. */
async function reached(pool: Pool, segment: SegmentAt): Promise<string[]> {
  const found: string[] = []
  let place: Place | null = { user: firstUser, device: null }
  while (place) {
    const { deviceIds, next }: Match = await matchBatch(pool, projectId as ProjectId, segment, place, 150, 100)
    found.push(...deviceIds)
    place = next
  }
  return found
}

async function agree(pool: Pool, world: World, written: Record<string, unknown>, trigger: Record<string, unknown>) {
  const compiled = compileSegment(parseSegment(written), trigger, now, 2)
  assert.equal(compiled.usesDevice, usesDevice(written))
  const expected = matching(written, trigger, now, world)
  if (compiled.matchesNone) assert.deepEqual(expected, [])
  const found = await selected(pool, compiled)
  assert.deepEqual(found.sort(), expected.sort(), JSON.stringify({ written, trigger }))
  const users = new Set(expected)
  const devices = compiled.usesDevice
    ? expected
    : world.devices.filter(({ userId }) => users.has(userId)).map(({ id }) => id)
  const segment: SegmentAt = (first, asked) => compileSegment(parseSegment(written), trigger, now, first, asked)
  assert.deepEqual((await reached(pool, segment)).sort(), devices.sort(), JSON.stringify({ written, trigger }))
  return found.length
}

describe('the compiled condition and the model', { timeout: long ? 1_200_000 : 120_000 }, () => {
  for (let seed = 1; seed <= worlds; seed++) {
    it(`select the same people (${tries} conditions, ${tries} segments, people no. ${seed})`, async (t) => {
      const pool = await testPool(t)
      const world = makeWorld(seed, 200)
      await storeWorld(pool, world)
      let [some, all] = [0, 0]
      for (const segment of [leaves, segments])
        await fc.assert(
          fc.asyncProperty(segment, triggers, async (written, trigger) => {
            const found = await agree(pool, world, written, trigger)
            all++
            if (found > 0 && found < world.users.length) some++
          }),
          { numRuns: tries, seed: seed * 7_919 }
        )
      assert.ok(some > all / 5, `only ${some} of ${all} tell people apart`)
    })
  }
})
