import type { Campaigns } from '../campaigns/campaigns.ts'
import { createFacts } from './facts/facts.ts'

export type { Facts, FactsOf, Sample } from './facts/facts.ts'
export type Oversight = ReturnType<typeof createOversight>

export interface OversightOptions {
  campaigns: Pick<Campaigns, 'saving' | 'previewTrigger'>
}

/** Shows what an action of an agent would do before it is done, and decides whether it may be. */
export function createOversight({ campaigns }: OversightOptions) {
  return {
    /** Counts what a trigger would reach and renders a sample, within some seconds. Sends nothing. */
    factsOf: createFacts(campaigns)
  }
}
