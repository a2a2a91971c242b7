import type { Db } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { Texts } from './choosing.ts'
import { findWinners, type Winners } from './winners-store.ts'

/** The variant that all get; undefined if none was chosen, or if the variants are others by now. */
export function winnerAmong({ step, variants }: Pick<Texts, 'step' | 'variants'>, winners: Winners | undefined) {
  const winner = winners?.[step ?? '']
  return winner && winner.among.join() === variants.join() ? winner.variant : undefined
}

/** Looks winners up, if any of these has variants. Returns how to find the one of each. */
export async function lookUpWinners(db: Db, projectId: ProjectId, wanted: { campaignId: string; texts: Texts }[]) {
  const ids = wanted.filter(({ texts }) => texts.variants.length > 0).map(({ campaignId }) => campaignId)
  if (ids.length === 0) return () => undefined
  const found = await findWinners(db, projectId, ids)
  return (campaignId: string, texts: Texts) => winnerAmong(texts, found.get(campaignId))
}
