import type { Pool } from '../platform/db/db.ts'
import { type Detail, Refusal } from '../platform/errors.ts'
import type { ProjectId } from '../platform/ids.ts'
import { steadyMs } from '../platform/time.ts'
import type { Segment } from './language.ts'
import { samplePatterns } from './pattern.ts'
import { limitStatementTime, matchPatterns } from './pattern-store.ts'
import { inTurn } from './store.ts'
import { patiently } from './turns.ts'

/** Compiling a pattern takes microseconds; one that takes a second is made to be slow. */
const tryMs = 1_000

/** How long a request waits for its turn. */
const patienceMs = 5_000

const takesTooLong = 'takes too long'

/** The patterns of `matches` in a segment, each with its path. */
function patternsOf(segment: Segment, path = 'segment'): Detail[] {
  if ('all' in segment) return segment.all.flatMap((inner, index) => patternsOf(inner, `${path}.all[${index}]`))
  if ('any' in segment) return segment.any.flatMap((inner, index) => patternsOf(inner, `${path}.any[${index}]`))
  // The patterns of a saved segment were checked when it was saved.
  if ('ref' in segment) return []
  if ('not' in segment) return patternsOf(segment.not, `${path}.not`)
  if ('event' in segment)
    return (segment.where ?? []).flatMap((inner, index) => patternsOf(inner, `${path}.where[${index}]`))
  return segment.operator === 'matches' ? [{ path: `${path}.value`, message: String(segment.value) }] : []
}

/**
 * Checks each pattern in the database when a segment is saved: only PostgreSQL knows which patterns it accepts. Slow ones
 * occupy a connection, so they take turns with the evaluation of segments. Throws `SegmentBusy` if no turn comes.
 */
export async function checkPatterns(
  pool: Pool,
  projectId: ProjectId,
  segment: Segment,
  path = 'segment'
): Promise<void> {
  const patterns = patternsOf(segment, path)
  if (patterns.length === 0) return
  await patiently(() => inTurn(projectId, () => tryAll(pool, patterns)), steadyMs() + patienceMs)
}

async function tryAll(pool: Pool, patterns: Detail[]): Promise<void> {
  const details: Detail[] = []
  for (const { path, message: pattern } of patterns) {
    const refusal = await refusalOf(pool, pattern)
    if (refusal) details.push({ path, message: refusal })
    // Each of these occupied a connection for a second.
    if (details.filter(({ message }) => message === takesTooLong).length >= 2) break
  }
  const [first] = details
  if (first) throw new Refusal('invalid_segment', `${first.path}: ${first.message}`, details)
}

async function refusalOf(pool: Pool, pattern: string): Promise<string | undefined> {
  try {
    await pool.transaction(async (tx) => {
      await limitStatementTime(tx, tryMs)
      await matchPatterns(tx, samplePatterns(pattern))
    })
    return undefined
  } catch (error) {
    // A canceled statement arrives as `Unavailable`, whose code is not PostgreSQL's.
    const code = codeOf((error as Error).cause) ?? codeOf(error)
    if (code === '2201B')
      return `is not a regular expression of PostgreSQL: ${(error as Error).message.replace(/^invalid regular expression: /, '')}`
    if (code === '57014') return takesTooLong
    throw error
  }
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : undefined)
