import { Type } from '@sinclair/typebox'
import type { TriggerCampaign } from '../../../campaigns/campaigns.ts'
import { keyOfConfirmation } from '../../../oversight/oversight.ts'
import type { IdempotencyKey } from '../../../platform/idempotency/idempotency.ts'

type Fields = Record<string, unknown>

/** Fields by which a request agrees to the facts that its caller was shown. */
export const confirmationFields = {
  confirmationId: Type.Optional(
    Type.String({
      description:
        'Of a preview or a question. The trigger is accepted only as it was shown there: the same campaign version, audience and properties.'
    })
  ),
  confirm: Type.Optional(
    Type.Boolean({ description: 'true: do what the confirmationId stands for. false: it is not to be done.' })
  ),
  campaignVersion: Type.Optional(
    Type.Integer({ description: 'Only this version of the campaign: refused where it was changed meanwhile.' })
  )
}

/** The fields of a request for a command; the inverse of reading them. */
export function fieldsOfCommand({ audience, ...command }: TriggerCampaign): Fields {
  return { ...command, ...audience }
}

/** The idempotency key of a confirmed trigger: all requests with the same confirmation lead to one trigger. */
export const confirmedKey = ({ confirmationId }: Fields): IdempotencyKey | undefined =>
  typeof confirmationId === 'string' ? keyOfConfirmation(confirmationId) : undefined
