import { Type } from '@sinclair/typebox'
import type { Routes } from '../../platform/http/routes.ts'
import type { ManageAccess, ManageCaller } from '../../projects/projects.ts'
import { shownWinners, type WinnersOf } from './winner.ts'
import { Nullable, WinnerAnswer } from './winner-schemas.ts'

/** The route that chooses the winner of a campaign by hand. */
export function winnerRoutes(manage: Routes<ManageCaller, ManageAccess>, winners: WinnersOf): void {
  manage.post(
    '/projects/:project_id/campaigns/:campaign_id(^[\\s\\S]*?)::choose-winner',
    {
      operationId: 'chooseProjectCampaignWinner',
      summary: 'Choose the variant that all recipients of a campaign get from now on',
      access: 'editor',
      body: Type.Object({
        variant: Nullable('The id of the variant; null: no winner any longer.'),
        step: Type.Optional(Nullable('The step that has these variants, in a campaign with steps.'))
      }),
      answer: Type.Object({ winners: Type.Array(WinnerAnswer) }),
      refusals: ['not_found', 'invalid_campaign_id', 'invalid_parameter'],
      example: { variant: 'b' }
    },
    async ({ caller, params, body: { variant, step = null } }) => ({
      winners: shownWinners(
        await winners.choose(caller.project!.id, caller.actor, params.campaign_id, { step, variant, by: null })
      )
    })
  )
}
