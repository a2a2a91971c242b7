import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { openPool } from '../../src/platform/db/db.ts'
import { Refusal, Unavailable } from '../../src/platform/errors.ts'
import { newId, type ProjectId } from '../../src/platform/ids.ts'
import { checkPatterns } from '../../src/segments/check-patterns.ts'
import { limitStatementTime } from '../../src/segments/pattern-store.ts'
import { compileSegment, parseSegment } from '../../src/segments/segments.ts'
import fc from '../support/fuzz.ts'
import { silentLog } from '../support/log.ts'
import { eventually, startService } from '../support/service.ts'
import { makeWorld, now, projectId, segments, storeWorld, triggers } from './world.ts'

const service = await startService()
const pool = openPool({ connectionString: service.databaseUrl }, silentLog)
after(() => pool.close())
const world = makeWorld(3, 20)
const patient = {
  id: newId(),
  projectUserId: 'patient',
  properties: { text: `${'ab'.repeat(5_000)}c` },
  createdAt: now,
  lastSeenAt: null
}
world.users.push(patient)
await storeWorld(pool, world)

const query = (condition: string) =>
  `select count(*)::int as count from users u where u.project_id = $1 and ${condition}`
async function count(segment: unknown, trigger: Record<string, unknown> = {}): Promise<number> {
  const { condition, values } = compileSegment(parseSegment(segment), trigger, now, 2)
  return (await pool.adhoc<{ count: number }>(query(condition), [projectId, ...values]))[0]!.count
}
const on = (attribute: string, operator: string, value: unknown) => ({ attribute, operator, value })

describe('nothing of a segment becomes text of the query', () => {
  const attacks = [
    "x' or '1'='1",
    "'; drop table users; --",
    '$1',
    '$99::text',
    '<0>',
    '"; select pg_sleep(10); --',
    '\\',
    "\\'",
    'u.properties',
    '/*',
    '--'
  ]
  it('not its names, not its values, not those of a trigger', async () => {
    for (const attack of attacks) {
      const trigger = { a: attack, list: attacks }
      assert.equal(await count(on(`user.${attack}`, 'equals', attack)), 0)
      assert.equal(await count(on('user.a', 'in', attacks)), 0)
      assert.equal(await count(on('user.a', 'contains', '{{ trigger.a }}'), trigger), 0)
      assert.equal(await count(on('user.a', 'in', '{{ trigger.list }}'), trigger), 0)
      const where = [on(`event.${attack}`, 'ends_with', '{{ trigger.a }}')]
      assert.equal(await count({ event: attack, operator: 'at_least', count: 1, where }, trigger), 0)
    }
    assert.equal(await count({}), world.users.length)
  })

  it('two segments that differ only in names and values have the same text', () => {
    const make = (word: string) =>
      compileSegment(
        parseSegment({
          all: [
            on(`user.${word}`, 'equals', word),
            on(`user.${word}`, 'matches', word),
            {
              event: word,
              operator: 'exactly',
              count: word.length,
              within: `${word.length}d`,
              where: [on(`event.${word}`, 'in', [word])]
            }
          ]
        }),
        {},
        now
      ).condition
    for (const attack of attacks) assert.equal(make(attack), make('word'))
  })

  it('texts name no table but events, and that by the project and the user of the row', () => {
    fc.assert(
      fc.property(segments, triggers, (segment, trigger) => {
        const { condition } = compileSegment(parseSegment(segment), trigger, now, 2)
        const events = condition.matchAll(/\b(?:from|join)\s+(?!unnest\(|\()(.{0,70})/g)
        for (const [, source] of events)
          assert.match(source!, /^events e where e\.project_id = \$1 and e\.user_id = u\.id and /)
        assert.doesNotMatch(condition, /\b(users|devices|projects|now\(\)|random)\b/)
      }),
      { numRuns: 300 }
    )
  })
})

describe('a trigger that carries odd values', () => {
  let deep: unknown = 1
  for (let depth = 0; depth < 100_000; depth++) deep = [deep]
  const exact = (operator: string) => on('user.text', operator, '{{ trigger.x }}')

  it('makes no fault of ours, whatever they are', async () => {
    for (const x of [
      deep,
      [deep],
      { deep },
      Number.POSITIVE_INFINITY,
      Number.NaN,
      [Number.NEGATIVE_INFINITY],
      {},
      [],
      [[]]
    ])
      for (const operator of ['equals', 'greater_than', 'contains', 'in', 'matches', 'before', 'within_last'])
        assert.equal(await count(exact(operator), { x }), 0, operator)
  })

  it('matches no user where they cannot become text, or cannot be stored', async () => {
    const mixed = { not: on('user.text', 'equals', 'a{{ trigger.x }}') }
    for (const x of [deep, '\0', '\ud800']) {
      assert.equal(compileSegment(parseSegment(mixed), { x }, now).matchesNone, true)
      assert.equal(await count(mixed, { x }), 0)
    }
    assert.equal(await count({ not: on('user.text', 'in', '{{ trigger.x }}') }, { x: ['\0'] }), 0)
  })

  it('may carry long lists', async () => {
    const x = Array.from({ length: 50_000 }, (_, index) => `user-${index}`)
    assert.equal(
      await count(on('user.id', 'in', '{{ trigger.x }}'), { x: [...x, 'patient'] }),
      (await count(on('user.id', 'starts_with', 'user-'))) + 1
    )
  })
})

describe('an event condition', () => {
  const plan = async (condition: object) => {
    const segment = parseSegment({ event: 'purchase', operator: 'at_least', count: 2, ...condition })
    const compiled = compileSegment(segment, {}, now, 2)
    const values = [projectId, ...compiled.values]
    const rows = await pool.adhoc<Record<string, string>>(`explain (costs off) ${query(compiled.condition)}`, values)
    return rows.flatMap((row) => Object.values(row)).join('\n')
  }

  it('looks only into the months that its time spans', async () => {
    const months = async (within: string) => [...new Set((await plan({ within })).match(/events_\d{4}_\d\d/g))].sort()
    assert.deepEqual(await months('1d'), ['events_2026_11'])
    assert.deepEqual(await months('30d'), ['events_2026_10', 'events_2026_11'])
  })

  it('looks up each user by key and never joins the events of the whole project', async () => {
    for (const [operator, count] of [
      ['at_least', 1],
      ['at_most', 0],
      ['exactly', 0],
      ['exactly', 2],
      ['at_most', 3]
    ] as const) {
      const text = await plan({ operator, count })
      assert.match(text, /SubPlan/, text)
      assert.doesNotMatch(text, /Join|hashed/, text)
    }
  })
})

describe('a regular expression', () => {
  const check = (value: string) =>
    checkPatterns(pool, projectId as ProjectId, parseSegment({ not: on('user.text', 'matches', value) }))

  it('that PostgreSQL takes may be saved', async () => {
    for (const pattern of [
      '^a',
      '(?i)é|b{2,3}',
      '[[:alpha:]]+\\d*',
      'a(?=b)',
      '^{{ trigger.x }}$',
      '({{ trigger.x }}|b)+',
      '[^{{ trigger.x }}]',
      ''
    ])
      await check(pattern)
  })

  it('that PostgreSQL refuses is refused with its place', async () => {
    for (const pattern of [
      '(',
      'a{1000}',
      '[b-a]',
      '*',
      '\\',
      '\\{{ trigger.x }}',
      '(?#{{ trigger.x }})',
      '(?e){{ trigger.x }}'
    ])
      await assert.rejects(check(pattern), (error) => {
        assert.ok(error instanceof Refusal, `${pattern}: ${String(error)}`)
        assert.deepEqual([error.code, error.details[0]!.path], ['invalid_segment', 'segment.not.value'])
        return true
      })
  })

  it('that is too complex, or takes too long to understand, is refused', async () => {
    // PostgreSQL gives up on the first one by itself, and would work on the second one for many seconds.
    await assert.rejects(check('((((x{1,255}){1,255}){1,255}){1,255}){1,255}'), Refusal)
    await assert.rejects(check('(((((x*)*y*)*){1,20}){1,20})'), {
      name: 'Refusal',
      message: 'segment.not.value: takes too long'
    })
  })

  it('that is slow waits for others of its project, so that requests find a connection', async () => {
    const slow = '(((((x*)*y*)*){1,20}){1,20})'
    const tried = Promise.allSettled(Array.from({ length: 16 }, () => check(slow)))
    let most = 0
    await eventually(async () => {
      const [row] = await pool.adhoc<{ count: number }>(
        `select count(*)::int as count from pg_stat_activity
          where datname = current_database() and query like '%as pattern%' and state = 'active' and pid <> pg_backend_pid()`,
        []
      )
      most = Math.max(most, row!.count)
      assert.notEqual(await Promise.race([tried, undefined]), undefined)
    }, 30_000)
    assert.equal(most, 2)
    const codes = (await tried).map((one) => one.status === 'rejected' && one.reason.code)
    assert.deepEqual([...new Set(codes)].sort(), ['invalid_segment', 'rate_limited'])
  })

  it('is not broken by a value of a trigger, which is matched literally', async () => {
    const pattern = on('user.text', 'matches', '^(?:{{ trigger.x }}|zz)$')
    for (const x of [
      '(',
      '[',
      '\\',
      'a{1000}',
      '*',
      '(?',
      '[[:x:]]',
      '\\1',
      '***=',
      '\n#',
      '漢🧑',
      '',
      ' ',
      'x'.repeat(256),
      '('.repeat(256)
    ])
      assert.equal(await count(pattern, { x }), 0, x)
    assert.equal(await count(on('user.text', 'matches', '^{{ trigger.x }}ab'), { x: 'ab' }), 1)
    assert.equal(await count(on('user.text', 'matches', '^{{ trigger.x }}'), { x: '.' }), 0)
    const tooLong = compileSegment(parseSegment({ not: pattern }), { x: 'x'.repeat(257) }, now)
    assert.equal(tooLong.matchesNone, true)
  })

  it('whose filled form the database takes is one whose samples it took', async () => {
    const skeleton = fc.constantFrom(
      '^{{ trigger.x }}',
      '[{{ trigger.x }}]',
      '[^-{{ trigger.x }}]',
      '(?x) a {{ trigger.x }} # b',
      '({{ trigger.x }}){2,3}',
      '(?n).{{ trigger.x }}$'
    )
    await fc.assert(
      fc.asyncProperty(
        skeleton,
        fc
          .string({ unit: 'binary', maxLength: 256 })
          .filter((x) => !x.includes('\0') && x.isWellFormed() && [...x].length <= 256),
        async (pattern, x) => {
          await check(pattern)
          assert.equal(typeof (await count(on('user.text', 'matches', pattern), { x })), 'number')
        }
      ),
      { numRuns: 60 }
    )
  })

  it('made to hang is stopped by the limit of the statement, and nothing else suffers', async () => {
    const slow = parseSegment(on('user.text', 'matches', '^(.+)(.+)(.+)\\1\\2\\3$'))
    const { condition, values } = compileSegment(slow, {}, now, 2)
    const asking = pool.transaction(async (tx) => {
      await limitStatementTime(tx, 300)
      await tx.adhoc(query(condition), [projectId, ...values])
    })
    await assert.rejects(
      asking,
      (error) => error instanceof Unavailable && (error.cause as { code?: string }).code === '57014'
    )
    assert.equal(await count({}), world.users.length)
  })
})
