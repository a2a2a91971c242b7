import type { Db, Pool } from '../../platform/db/db.ts'
import { Refusal } from '../../platform/errors.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { recordAudit } from '../../projects/projects.ts'
import { checkCampaignId } from '../audience/request.ts'
import type { Campaign } from '../definition/definition.ts'
import { type CampaignRow, findCampaign, lockCampaign } from '../store.ts'
import { type Texts, textsOf } from './choosing.ts'
import { awaitingWinners, type Decision, findWinners, setWinners, type Winner, type Winners } from './winners-store.ts'

type Experiment = Pick<Texts, 'step' | 'variants'>

/** The decision on a step that counts: undefined if there is none, or if the variants are others by now. */
function decisionIn({ step, variants }: Experiment, winners: Winners | null | undefined): Decision | undefined {
  const decision = winners?.[step ?? '']
  return decision && decision.among.join() === variants.join() ? decision : undefined
}

/** The winner of a step that counts. */
export function winnerIn(experiment: Experiment, winners: Winners | null | undefined): Winner | undefined {
  const decision = decisionIn(experiment, winners)
  return decision && decision.variant !== null ? { ...decision, variant: decision.variant } : undefined
}

/** Looks winners up, if any of these has variants. Returns how to find the variant that all get. */
export async function lookUpWinners(db: Db, projectId: ProjectId, wanted: { campaignId: string; texts: Texts }[]) {
  const ids = wanted.filter(({ texts }) => texts.variants.length > 0).map(({ campaignId }) => campaignId)
  if (ids.length === 0) return () => undefined
  const found = await findWinners(db, projectId, ids)
  return (campaignId: string, texts: Texts) => winnerIn(texts, found.get(campaignId))?.variant
}

/** The steps of a campaign that have variants, or the campaign itself. */
function experimentsOf(campaign: Campaign): Experiment[] {
  const steps = campaign.steps?.map(({ id }) => id) ?? [null]
  return steps.map((step) => textsOf(campaign, step)).filter(({ variants }) => variants.length > 0)
}

/** The winners of a campaign that count now, as responses show them. */
export const shownWinners = ({ definition, winners }: Pick<CampaignRow, 'definition' | 'winners'>) =>
  winners === null
    ? []
    : experimentsOf(definition).flatMap((experiment) => {
        const winner = winnerIn(experiment, winners)
        return winner ? { step: experiment.step, ...winner } : []
      })

/** A choice of a winner. `variant` null: no longer any. `by` null: by hand. */
export interface Chosen {
  step: string | null
  variant: string | null
  by: Winner['by']
}

export type WinnersOf = ReturnType<typeof createWinners>

/** Chooses winners among variants. */
export function createWinners(pool: Pool) {
  return {
    /** Makes all recipients get one variant from now on. Returns the campaign. */
    choose(projectId: ProjectId, actor: string, campaignId: unknown, { step, variant, by }: Chosen) {
      const id = checkCampaignId(campaignId)
      return pool.transaction(async (tx) => {
        await lockCampaign(tx, projectId, id)
        const row = await findCampaign(tx, projectId, id)
        if (!row) throw new Refusal('not_found', `There is no campaign "${id}".`)
        const experiment = experimentsOf(row.definition).find((one) => one.step === step)
        // Results decide nothing that was decided, or has changed, since they were read.
        const late = !experiment?.variants.includes(variant ?? '') || decisionIn(experiment, row.winners)
        if (by !== null && late) return row
        if (!experiment) throw refused('step', step === null ? 'must be a step with variants' : 'has no variants')
        if (variant !== null && !experiment.variants.includes(variant))
          throw refused('variant', `must be one of ${experiment.variants.join(', ')}, or null for none`)
        const chosen = { variant, among: experiment.variants, by, chosen_at: new Date().toISOString() }
        const winners: Winners = { ...row.winners, [step ?? '']: chosen }
        await setWinners(tx, projectId, id, winners)
        const details = { variant, ...(step !== null && { step }), ...(by && { by }) }
        await recordAudit(tx, projectId, { actor, action: 'campaign.choose_winner', target: id, details })
        return { ...row, winners }
      })
    },

    /** Active campaigns that choose by their results and may not have chosen yet. */
    awaiting: () => awaitingWinners(pool),

    /** The steps of a campaign that wait for their results to choose, and the rule. */
    async open(projectId: ProjectId, campaignId: string) {
      const row = await findCampaign(pool, projectId, campaignId)
      const rule = row?.definition.winner
      if (!row || !rule) return []
      return experimentsOf(row.definition)
        .filter((experiment) => !decisionIn(experiment, row.winners))
        .map((experiment) => ({ ...experiment, rule }))
    }
  }
}

const refused = (path: string, message: string) =>
  new Refusal('invalid_parameter', `${path}: ${message}`, [{ path, message }])
