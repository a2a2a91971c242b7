import type { Db, Pool } from '../../platform/db/db.ts'
import { firstIdAt, type ProjectId, timeOfId } from '../../platform/ids.ts'
import { steadyMs } from '../../platform/time.ts'
import { limitStatementTime } from '../pattern-store.ts'
import { firstUser } from '../store.ts'
import {
  type SampleRow,
  sampleDevices,
  sampleEventNames,
  sampleEvents,
  sampleUsers,
  usersKnown
} from './catalog-store.ts'
import type { EventNames, Properties } from './schemas.ts'

/** Users, devices or events of a sample. A project with fewer is read completely. */
const mostUsers = 2_000
const mostDevices = 2_000
const mostEvents = 5_000
/** Places between the first and the last user, and days, at which a sample of more looks. */
const places = 30
const dayMs = 86_400_000
/** Properties may be 64 KiB a user: a sample that takes longer is repeated with a twentieth. */
const sampleMs = 2_000
const smaller = 20

/** A whole sample is small and cheap to repeat. */
const keptMs = 60_000
const keptWholeMs = 5_000
const mostKept = 500

export type Catalog = ReturnType<typeof createCatalog>

/** The names, types and frequent values of properties, and the names of events, from bounded samples. */
export function createCatalog(pool: Pool) {
  const properties = keep((projectId: ProjectId, of: 'user' | 'device', event: string | undefined) =>
    sampled(pool, (db, part) =>
      event !== undefined
        ? eventProperties(db, projectId, event, part)
        : of === 'device'
          ? deviceProperties(db, projectId, part)
          : userProperties(db, projectId, part)
    )
  )
  const eventNames = keep((projectId: ProjectId) => sampled(pool, (db, part) => namesOf(db, projectId, part)))
  return { properties, eventNames }
}

type Kept<Result> = { until: number; result: Promise<Result> }

/** Remembers results for a while, and lets requests at the same time share one. */
function keep<Args extends unknown[], Result extends { complete: boolean }>(read: (...args: Args) => Promise<Result>) {
  const known = new Map<string, Kept<Result>>()
  return (...args: Args): Promise<Result> => {
    const key = JSON.stringify(args)
    const kept = known.get(key)
    if (kept && kept.until > steadyMs()) return kept.result
    const fresh: Kept<Result> = { until: steadyMs() + keptMs, result: read(...args) }
    if (known.size >= mostKept) known.delete(known.keys().next().value!)
    known.set(key, fresh)
    fresh.result.then(
      ({ complete }) => {
        if (complete) fresh.until = steadyMs() + keptWholeMs
      },
      () => known.delete(key)
    )
    return fresh.result
  }
}

/** Takes a sample in limited time, or a smaller one. `part`: the divisor of its size. */
async function sampled<Result>(pool: Pool, take: (db: Db, part: number) => Promise<Result>): Promise<Result> {
  const limited = (part: number) =>
    pool.transaction(async (tx) => {
      await limitStatementTime(tx, sampleMs)
      return take(tx, part)
    })
  return limited(1).catch((error: unknown) => {
    if (!isTimeout(error)) throw error
    return limited(smaller)
  })
}

const isTimeout = (error: unknown) =>
  [error, (error as Error).cause].some((one) => one instanceof Error && 'code' in one && one.code === '57014')

async function userProperties(db: Db, projectId: ProjectId, part: number): Promise<Properties> {
  const most = Math.ceil(mostUsers / part)
  const { known, first, last } = await usersKnown(db, projectId, most + 1)
  if (known <= most) return propertiesOf(await sampleUsers(db, projectId, [firstUser], [most]), true)
  // Half of them from the beginning, because an import may have written most users at once.
  const [from, to] = [timeOfId(first!), timeOfId(last!)]
  const starts = Array.from({ length: places }, (_, place) =>
    firstIdAt(Math.floor(from + ((to - from) * place) / places))
  )
  const size = Math.ceil(most / 2 / places)
  const sizes = starts.map(() => size)
  return propertiesOf(await sampleUsers(db, projectId, [firstUser, ...starts], [most / 2, ...sizes]), false)
}

async function deviceProperties(db: Db, projectId: ProjectId, part: number): Promise<Properties> {
  const most = Math.ceil(mostDevices / part)
  const sample = await sampleDevices(db, projectId, most)
  return propertiesOf(sample, sample.sampled < most)
}

/** The latest events, and some before each of the last days. */
function timesOf(part: number): [Date[], number[]] {
  const now = Date.now()
  const most = Math.ceil(mostEvents / part)
  const untils = Array.from({ length: places + 1 }, (_, days) => new Date(now - days * dayMs))
  return [untils, untils.map((_, days) => (days === 0 ? most : Math.ceil(most / places)))]
}

async function eventProperties(db: Db, projectId: ProjectId, event: string, part: number): Promise<Properties> {
  const [untils, sizes] = timesOf(part)
  const { sampled } = await sampleEventNames(db, projectId, untils, sizes)
  return propertiesOf(await sampleEvents(db, projectId, untils, sizes, event), sampled < sizes[0]!)
}

async function namesOf(db: Db, projectId: ProjectId, part: number): Promise<EventNames> {
  const [untils, sizes] = timesOf(part)
  const { items, sampled } = await sampleEventNames(db, projectId, untils, sizes)
  return {
    items: items.map(({ name, count }) => ({ name, share: shareOf(count, sampled) })),
    sampled,
    complete: sampled < sizes[0]!
  }
}

const shareOf = (count: number, all: number) => (all === 0 ? 0 : Math.round((1000 * count) / all) / 1000)

const propertiesOf = ({ sampled, items }: SampleRow, complete: boolean): Properties => ({
  items: items.map(({ name, types, count, examples }) => ({
    name,
    types: types as Properties['items'][number]['types'],
    share: shareOf(count, sampled),
    examples
  })),
  sampled,
  complete
})
