import type { Ready } from '../../campaigns/campaigns.ts'
import type { Db } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { Recipient } from '../../templates/templates.ts'
import type { Skip } from './batch-store.ts'
import { nameStep, type RunningTrigger } from './expansion-store.ts'

export type SequenceTrigger = Pick<
  RunningTrigger,
  'id' | 'campaign_id' | 'campaign_version' | 'audience' | 'properties'
>

/** Lets users enter the steps of a campaign. Returns those who are in the steps already. */
export type EnterSequence = (
  tx: Db,
  projectId: ProjectId,
  trigger: SequenceTrigger,
  recipients: Recipient[]
) => Promise<ReadonlySet<string>>

/**
 * The recipients of a batch who may get its message. The first trigger of a campaign with steps lets them enter the steps, in
 * the transaction that writes the batch. Events and steps have decided about their users before they made a trigger.
 */
export async function enterSteps<One extends Recipient>(
  tx: Db,
  projectId: ProjectId,
  { trigger, ready, recipients }: { trigger: RunningTrigger; ready: Ready; recipients: One[] },
  enter: EnterSequence
): Promise<{ entered: One[]; refused: Skip[] }> {
  const [first] = ready.definition.steps ?? []
  if (!first || trigger.origin === 'event' || trigger.origin === 'step') return { entered: recipients, refused: [] }
  if (trigger.step === null) await nameStep(tx, projectId, trigger.id, first.id)
  const underWay = await enter(tx, projectId, trigger, recipients)
  if (underWay.size === 0) return { entered: recipients, refused: [] }
  const skipOf = ({ device_id: value, user_id: userId }: Recipient): Skip => ({
    triggerId: trigger.id,
    kind: 'device_id',
    value,
    reason: 'not_entered_again',
    userId
  })
  return {
    entered: recipients.filter(({ user_id }) => !underWay.has(user_id)),
    refused: recipients.filter(({ user_id }) => underWay.has(user_id)).map(skipOf)
  }
}
