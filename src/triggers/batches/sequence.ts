import type { Deferred, Ready } from '../../campaigns/campaigns.ts'
import type { Db } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { Recipient } from '../../templates/templates.ts'
import type { Skip } from './batch-store.ts'
import { atOnce } from './draft.ts'
import { nameStep, type RunningTrigger } from './expansion-store.ts'

export type SequenceTrigger = Pick<
  RunningTrigger,
  'id' | 'campaign_id' | 'campaign_version' | 'origin' | 'audience' | 'properties' | 'step' | 'started_at'
>

/** A step of one version of a campaign. */
export type SentStep = Pick<SequenceTrigger, 'campaign_id' | 'campaign_version' | 'step'>

/** Users in the steps of campaigns. */
export interface Sequences {
  /** Lets users enter the steps of a campaign. Returns those who are in the steps already. */
  enter(tx: Db, projectId: ProjectId, trigger: SequenceTrigger, recipients: Recipient[]): Promise<ReadonlySet<string>>
  /** The recipients of a trigger who have left the steps by the exit event. */
  exited(projectId: ProjectId, trigger: SequenceTrigger, recipients: Recipient[]): Promise<ReadonlySet<string>>
  /** Lets the wait between this step and the next one begin at this time, unless it began later. */
  waitFrom(tx: Db, projectId: ProjectId, sent: SentStep, userIds: string[], from: Date): Promise<void>
}

/**
 * The recipients of a batch who may get its message. The first trigger of a campaign with steps lets them enter the steps, in
 * the transaction that writes the batch. Events and steps have decided about their users before they made a trigger.
 */
export async function enterSteps<One extends Recipient>(
  tx: Db,
  projectId: ProjectId,
  { trigger, ready, recipients }: { trigger: RunningTrigger; ready: Ready; recipients: One[] },
  { enter }: Pick<Sequences, 'enter'>
): Promise<{ entered: One[]; refused: Skip[] }> {
  const [first] = ready.definition.steps ?? []
  if (!first || trigger.origin === 'event' || trigger.origin === 'step') return { entered: recipients, refused: [] }
  if (trigger.step === null) await nameStep(tx, projectId, trigger.id, first.id)
  const underWay = await enter(tx, projectId, trigger, recipients)
  return withoutUsers(trigger.id, recipients, underWay, 'not_entered_again')
}

/** Skips the recipients who are one of these users. */
export function withoutUsers<One extends Recipient>(
  triggerId: string,
  recipients: One[],
  users: ReadonlySet<string>,
  reason: string
): { entered: One[]; refused: Skip[] } {
  if (users.size === 0) return { entered: recipients, refused: [] }
  const skipOf = ({ device_id: value, user_id: userId }: Recipient): Skip => ({
    triggerId,
    kind: 'device_id',
    value,
    reason,
    userId
  })
  return {
    entered: recipients.filter(({ user_id }) => !users.has(user_id)),
    refused: recipients.filter(({ user_id }) => users.has(user_id)).map(skipOf)
  }
}

/** A batch as it was written: the devices that it deferred, by the end of their quiet hours, and its messages. */
interface WrittenBatch {
  wasDeferred: boolean
  recipients: Recipient[]
  deferred: Deferred
  written: { user_id: string | null }[]
}

/** Steps keep their distance: the next one waits from when quiet hours let this one go. */
export async function delayNextStep(
  tx: Db,
  projectId: ProjectId,
  { trigger, ready }: { trigger: RunningTrigger; ready: Ready },
  { wasDeferred, recipients, deferred, written }: WrittenBatch,
  { waitFrom }: Pick<Sequences, 'waitFrom'>
): Promise<void> {
  if (!ready.definition.steps) return
  const userOf = new Map(recipients.map(({ device_id, user_id }) => [device_id, user_id]))
  const now = new Date()
  const waits = [...deferred].map(([until, deviceIds]) => {
    const userIds = deviceIds.flatMap((id) => userOf.get(id) ?? [])
    return [until === atOnce ? now : new Date(until), userIds] as const
  })
  const sent = wasDeferred ? written.flatMap(({ user_id }) => user_id ?? []) : []
  for (const [from, userIds] of [...waits, [now, sent] as const])
    if (userIds.length > 0) await waitFrom(tx, projectId, trigger, [...new Set(userIds)], from)
}
