import type { Db } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Period } from './period.ts'
import { type By, type Figures, names, readSums, type SumRow } from './store.ts'

export interface Stats {
  totals: Figures
  series: ({ at: string } & Figures)[]
  groups: { key: string | null; totals: Figures }[]
}

const none = Object.fromEntries(names.map((name) => [name, 0])) as Figures

/** Whole figures. Those of the holdout stay out of sums over all groups: nothing was sent to its users. */
function figuresOf({ sums, over_key }: SumRow): Figures {
  const figures = Object.fromEntries(names.map((name) => [name, Number(sums[name])])) as Figures
  if (!over_key) return figures
  const conversion_value = Number(sums.sent_value)
  return { ...figures, users: Number(sums.sent_users), converted: Number(sums.sent_converted), conversion_value }
}

/** The key of a group as callers see it. */
export const keyOf = ({ key }: Pick<SumRow, 'key'>) => key || null

/** What came of a campaign in a period: in all, for each point, and for each group. */
export async function readStats(
  db: Db,
  projectId: ProjectId,
  campaignId: string,
  period: Period,
  by: By | undefined
): Promise<Stats & { cells: { at: string; key: string | null; figures: Figures }[] }> {
  const rows = await readSums(db, projectId, campaignId, period, by)
  const total = rows.find((row) => row.over_at && row.over_key)
  const points = new Map(
    rows.filter((row) => !row.over_at && row.over_key).map((row) => [row.at!.getTime(), figuresOf(row)])
  )
  const { fromMs, untilMs, stepMs } = period
  const series = Array.from({ length: (untilMs - fromMs) / stepMs }, (_, index) => {
    const atMs = fromMs + index * stepMs
    return { at: new Date(atMs).toISOString(), ...none, ...points.get(atMs) }
  })
  const grouped = by === undefined ? [] : rows.filter((row) => !row.over_key)
  return {
    totals: total ? figuresOf(total) : none,
    series,
    groups: grouped.filter((row) => row.over_at).map((row) => ({ key: keyOf(row), totals: figuresOf(row) })),
    cells: grouped
      .filter((row) => !row.over_at)
      .map((row) => ({ at: row.at!.toISOString(), key: keyOf(row), figures: figuresOf(row) }))
  }
}
