import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'

// JIT compilation of a long condition takes longer than evaluating it on a batch of users.
const limit = statement(
  'campaigns.limit_time',
  `select set_config('statement_timeout', $1, true), set_config('jit', 'off', true)`
)
const tryPatterns = statement(
  'campaigns.try_patterns',
  `select count(*) filter (where '' ~ (pattern collate "C")) as hits from unnest($1::text[]) as pattern`
)

/** Limits every statement of this transaction, because a regular expression can be made to take hours. */
export const limitStatementTime = (tx: Db, ms: number) => tx.run(limit, [String(ms)])

/** Matches an empty text with each pattern. Throws the error of PostgreSQL if it does not accept one. */
export const matchPatterns = (tx: Db, patterns: string[]) => tx.query(tryPatterns, [patterns])
