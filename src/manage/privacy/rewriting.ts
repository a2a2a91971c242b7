import type { Db, Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { copiesIn } from './copies-store.ts'
import { rewriteCopy } from './rewriting-store.ts'

export type Counts = Record<string, number>

/** What an erasure of copies needs. */
export interface Eraser {
  pool: Pool
  /** Rejects an approval that still waits for a person, and ends its task. */
  rejectApproval: (projectId: ProjectId, id: string, reason: string) => Promise<void>
}

/** Whose copies are erased, and how texts are searched for them. */
export interface About extends Eraser {
  projectId: ProjectId
  names: string[]
  texts: string[]
  mentioned(text: string): boolean
  touched: Touched
}

/** Copies that were deleted or rewritten. An erasure reads twice with one of these, so a row that it meets twice counts once. */
export class Touched {
  readonly #keys = new Map<string, Set<string>>()

  add(table: string, key: string): void {
    const keys = this.#keys.get(table)
    if (keys) keys.add(key)
    else this.#keys.set(table, new Set([key]))
  }

  /** Rows by table. */
  counts(): Counts {
    return Object.fromEntries(tables.map((table) => [table, this.#keys.get(table)?.size ?? 0]))
  }
}

const tables = [
  'a2a_tasks',
  'confirmations',
  'approvals',
  'triggers',
  'webhook_events',
  'webhook_calls',
  'idempotency_keys'
]

/**
 * Rewrites the rows of a table for which `changeOf` finds a change. It is asked again once the row is locked: another erasure
 * may have rewritten the row since it was read, and what that erasure removed must not come back.
 */
export async function rewriteEach<Change>(
  { pool, projectId, texts, touched }: About,
  table: 'triggers' | 'webhook_events' | 'webhook_calls',
  {
    changeOf,
    write
  }: {
    changeOf: (text: string) => Change | undefined
    write: (tx: Db, id: string, change: Change) => Promise<unknown>
  }
): Promise<void> {
  for await (const { id, text } of copiesIn(pool, projectId, table, texts)) {
    if (changeOf(text) === undefined) continue
    const rewritten = await rewriteCopy(pool, projectId, table, id, async (tx, now) => {
      const change = changeOf(now)
      if (change !== undefined) await write(tx, id, change)
      return change !== undefined
    })
    if (rewritten) touched.add(table, id)
  }
}
