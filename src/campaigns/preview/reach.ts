import { canShow } from '../../channels/channels.ts'
import type { Db, Pool } from '../../platform/db/db.ts'
import { newId, type ProjectId } from '../../platform/ids.ts'
import type { TopicDefaults } from '../../preferences/preferences.ts'
import { TemplateFailed, ValuesMissing } from '../../templates/templates.ts'
import { checkEligibility, notAfterOf } from '../audience/eligibility.ts'
import { findEndpoints } from '../audience/endpoints.ts'
import { overCap, overLimits, type ProjectRules } from '../audience/limits.ts'
import type { Reachable } from '../audience/recipients-store.ts'
import { everyMessage } from '../definition/definition.ts'
import { lookUpWinners } from '../texts/winner.ts'
import type { Ready, SegmentTrigger } from '../versions.ts'

/** A device with the properties that its target gives it. */
export type Reader = Reachable & { own?: Record<string, unknown> | undefined }

/** What a trigger would do with some devices if they were sent to now. */
export interface Reached {
  /** Why a device would get nothing. Devices that are missing would get the message. */
  reasons: Map<string, string>
  /** Devices that would get it later, when quiet hours are over. */
  deferred: Set<string>
  /** Devices that were not examined, because the time was too short to render their message. */
  open: Set<string>
}

/** The users who are in the steps of a campaign by another trigger: they do not enter it again meanwhile. */
export type UsersUnderWay = (
  db: Db,
  projectId: ProjectId,
  campaignId: string,
  userIds: string[],
  notBy: string
) => Promise<ReadonlySet<string>>

export interface ReachRules {
  ready: Ready
  trigger: SegmentTrigger
  project: ProjectRules
  topics: TopicDefaults
  usersUnderWay: UsersUnderWay
}

/** Whether a campaign has rules that are checked device by device, beside choices and endpoints. */
export const needsEach = ({ ready: { definition, heldOut }, project }: ReachRules): boolean =>
  Boolean(definition.quiet_hours || definition.frequency_cap || heldOut || project.quietHours) ||
  project.limits.length > 0 ||
  definition.on_missing === 'skip' ||
  definition.steps !== undefined ||
  isSilent(definition)

const isSilent = (definition: Ready['definition']): boolean => {
  const messages = everyMessage(definition)
  return !definition.live_activity && messages.length > 0 && messages.every(({ message }) => message.silent)
}

/** Decides about devices as sending does, in the same order, and writes nothing. */
export async function reachOf(
  pool: Pool,
  projectId: ProjectId,
  rules: ReachRules,
  readers: Reader[],
  untilMs: number
): Promise<Reached> {
  const { ready, trigger, project, topics, usersUnderWay } = rules
  const { definition, heldOut } = ready
  const found: Reached = { reasons: new Map(), deferred: new Set(), open: new Set() }
  const skip = ({ device_id }: Reader, reason: string) => void found.reasons.set(device_id, reason)
  // A trigger that does not exist yet has sent nothing.
  const of = { campaignId: definition.campaign_id ?? '', triggerId: newId() }
  const all = [...new Set(readers.map(({ user_id }) => user_id))]
  const underWay = definition.steps ? await usersUnderWay(pool, projectId, of.campaignId, all, of.triggerId) : new Set()
  for (const reader of readers) if (underWay.has(reader.user_id)) skip(reader, 'not_entered_again')
  const recipients = readers.filter(({ user_id }) => !underWay.has(user_id))
  const userIds = all.filter((id) => !underWay.has(id))
  const { eligible, skipped, deferred } = checkEligibility(definition, recipients, {
    endpoints: await findEndpoints(pool, projectId, definition.live_activity, recipients),
    topics,
    quietHours: project.quietHours,
    capped: await overCap(pool, projectId, definition, of, userIds),
    notAfter: notAfterOf(definition, trigger.started_at),
    now: trigger.started_at
  })
  for (const { recipient, reason } of skipped) skip(recipient, reason)
  for (const ids of deferred.values()) for (const id of ids) found.deferred.add(id)
  const later = recipients.filter(({ device_id }) => found.deferred.has(device_id))
  const passed = [...eligible.map(({ recipient }) => recipient), ...later].filter((recipient) => {
    if (!heldOut?.(recipient.user_id)) return true
    skip(recipient, 'holdout')
    return false
  })
  const rendered = await checkTexts(pool, projectId, rules, passed, untilMs, found)
  const left = [...new Set(rendered.map(({ user_id }) => user_id))]
  const capped = left.length > 0 ? await overLimits(pool, projectId, of.triggerId, project.limits, left) : new Set()
  for (const recipient of rendered) if (capped.has(recipient.user_id)) skip(recipient, 'capped')
  return found
}

/** Skips devices whose message lacks a value or cannot be shown, and returns the others. */
async function checkTexts(
  pool: Pool,
  projectId: ProjectId,
  { ready, trigger }: ReachRules,
  recipients: Reader[],
  untilMs: number,
  found: Reached
): Promise<Reader[]> {
  const { definition } = ready
  if (definition.on_missing !== 'skip') {
    if (!isSilent(definition)) return recipients
    const silent = { kind: 'alert' as const, notification: { silent: true as const } }
    return recipients.filter(({ device_id, platform }) => {
      const shown = canShow(silent, platform)
      if (!shown) found.reasons.set(device_id, 'unsupported_platform')
      return shown
    })
  }
  const texts = ready.texts(null)
  const campaignId = definition.campaign_id ?? ''
  const winnerOf = await lookUpWinners(pool, projectId, [{ campaignId, texts }])
  const choices = recipients.map((recipient) => texts.choose(recipient, winnerOf(campaignId, texts)).text)
  const rendered = await texts.rendering.for(trigger)(recipients, untilMs, choices)
  return recipients.filter(({ device_id, platform }, index) => {
    const content = rendered[index]!
    if (content === 'late') found.open.add(device_id)
    else if (content instanceof TemplateFailed) found.reasons.set(device_id, 'template_failed')
    else if (content instanceof ValuesMissing) found.reasons.set(device_id, 'missing_value')
    else if (!canShow(content, platform)) found.reasons.set(device_id, 'unsupported_platform')
    else return true
    return false
  })
}
