import type { Skill } from '../a2a/a2a.ts'
import type { Campaigns } from '../campaigns/campaigns.ts'
import { Refusal } from '../platform/errors.ts'
import type { ProjectId } from '../platform/ids.ts'

export type Unconfirmed = ReturnType<typeof createUnconfirmed>

/** Refuses a broadcast that no preview has shown. One that the default audience of a campaign makes is a broadcast too. */
export function createUnconfirmed({ saving }: Pick<Campaigns, 'saving'>) {
  async function isBroadcast(projectId: ProjectId, { campaignId, broadcast, targets }: Record<string, unknown>) {
    if (broadcast === true || targets !== undefined) return broadcast === true
    try {
      return (await saving.get(projectId, campaignId)).definition.default_audience?.broadcast === true
    } catch (error) {
      // A trigger of an unknown campaign is refused in words of its own.
      if (error instanceof Refusal && error.code !== 'unavailable') return false
      throw error
    }
  }

  return async (projectId: ProjectId, skill: Skill, fields: Record<string, unknown>): Promise<string | undefined> =>
    skill.triggers && fields.confirmationId === undefined && (await isBroadcast(projectId, fields)) ? advice : undefined
}

const advice =
  'This is a broadcast, and a broadcast needs a confirmationId. Call preview-campaign with the same arguments, show its result to the person you act for, and call trigger-campaign again with the confirmationId in it.'
