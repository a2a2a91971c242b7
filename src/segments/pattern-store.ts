import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'

const limit = statement('campaigns.limit_time', `select set_config('statement_timeout', $1, true)`)
const tryPatterns = statement(
  'campaigns.try_patterns',
  `select count(*) filter (where '' ~ (pattern collate "C")) as hits from unnest($1::text[]) as pattern`
)

/** Limits every statement of this transaction, because a regular expression can be made to take hours. */
export const limitStatementTime = (tx: Db, ms: number) => tx.run(limit, [String(ms)])

/** Matches an empty text with each pattern. Throws the error of PostgreSQL if it does not accept one. */
export const matchPatterns = (tx: Db, patterns: string[]) => tx.query(tryPatterns, [patterns])

const match = statement(
  'segments.match_texts',
  `select n::int from unnest($1::text[], $2::text[]) with ordinality as g(text, pattern, n)
    where (g.text collate "C") ~ g.pattern`
)

/** Returns the positions of the texts that match their pattern. */
export const matchTexts = async (tx: Db, pairs: readonly { text: string; pattern: string }[]): Promise<Set<number>> => {
  const values = [pairs.map(({ text }) => text), pairs.map(({ pattern }) => pattern)]
  return new Set((await tx.query<{ n: number }>(match, values)).map(({ n }) => n - 1))
}
