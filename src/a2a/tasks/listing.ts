import type { Pool } from '../../platform/db/db.ts'
import { isUuid, type ProjectId } from '../../platform/ids.ts'
import { dialectOf } from '../dialects/choose.ts'
import type { Dialect, Listing } from '../dialects/dialect.ts'
import { invalid } from '../errors.ts'
import type { DialectName, Task } from '../model.ts'
import { pageOfTasks, windowOfTasks } from '../task-pages.ts'
import type { TaskFilter } from './store.ts'
import type { Totals } from './totals.ts'

/** Where a page ended, with the spelling and the total of the first page. */
interface Token {
  before: string
  dialect: DialectName
  total: number
  /** Whether the spelling applies only to the page, and each task has its own. */
  mixed: boolean
}

const sealToken = ({ before, dialect, total, mixed }: Token): string =>
  Buffer.from(JSON.stringify([before, dialect, total, mixed])).toString('base64url')

function openToken(text: unknown): Token | undefined {
  if (typeof text !== 'string' || text.length > 500) return undefined
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    if (!Array.isArray(value)) return undefined
    const [before, dialect, total, mixed] = value
    const spelt = (dialect === 'plain' || dialect === 'official') && typeof mixed === 'boolean'
    const counted = Number.isSafeInteger(total) && total >= 0
    const whole = typeof before === 'string' && isUuid(before) && spelt && counted
    return whole ? { before, dialect, total, mixed } : undefined
  } catch {
    return undefined
  }
}

/** The spelling that a page token carries on from its first page; none if each task has its own. */
export function dialectInToken(pageToken: unknown): DialectName | undefined {
  const token = openToken(pageToken)
  return token?.mixed ? undefined : token?.dialect
}

/**
 * A page in the spelling that the call shows. If the call shows none, each task appears in its own spelling, and the
 * first page decides for all pages whether totals and artifacts are shown. The contract's rules apply unless every task
 * of that page is official (contract B.9).
 */
export async function listPage(
  { pool, totals }: { pool: Pool; totals: Totals },
  projectId: ProjectId,
  wanted: Listing & TaskFilter,
  shown: Dialect | undefined
) {
  const token = wanted.pageToken === undefined ? undefined : openToken(wanted.pageToken)
  if (wanted.pageToken !== undefined && !token) throw invalid('pageToken', 'is not one that this service gave out')
  const window = { before: token?.before, limit: wanted.limit, offset: wanted.offset }
  const read = shown?.rules.counts === 'never' ? windowOfTasks : pageOfTasks
  const { tasks, next } = await read(pool, projectId, wanted, window)
  const spelling = (task: Task) => shown ?? dialectOf(task.dialect === 'legacy' ? 'plain' : task.dialect)
  const official = tasks.length > 0 && tasks.every((task) => spelling(task).name === 'official')
  const dialect = shown ?? dialectOf(token?.dialect ?? (official ? 'official' : 'plain'))
  const firstPage = token === undefined && wanted.offset === 0
  // A list that fits on the first page needs no count. A longer one is counted once, and the token carries the number.
  const total =
    dialect.rules.counts === 'never'
      ? 0
      : firstPage && next === undefined
        ? tasks.length
        : (token?.total ?? (await totals.of(projectId, wanted)))
  return dialect.page({
    tasks: tasks.map((task) => ({ task, dialect: spelling(task) })),
    nextPageToken: next ? sealToken({ before: next, dialect: dialect.name, total, mixed: !shown }) : '',
    pageSize: wanted.limit,
    totalSize: firstPage || dialect.rules.counts === 'every page' ? total : 0,
    view: { historyLength: wanted.historyLength, artifacts: wanted.artifacts ?? dialect.rules.listsArtifacts }
  })
}
