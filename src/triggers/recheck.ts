import {
  type Campaign,
  hoursOf,
  loadRecipients,
  type ProjectOf,
  type ProjectRules,
  quietFor,
  type RecipientWithChoices,
  rulesFor,
  type Versions
} from '../campaigns/campaigns.ts'
import type { MessageRow, Recheck, Verdict } from '../messages/messages.ts'
import type { Pool } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { isTransactional, refusalBy, type TopicDefaults, topicDefaults } from '../preferences/preferences.ts'
import { versionsOf } from './batches/expansion-store.ts'
import type { SentStep, Sequences } from './batches/sequence.ts'

export interface RecheckOptions {
  pool: Pool
  versions: Versions
  projectOf: ProjectOf
  sequences: () => Pick<Sequences, 'waitFrom'>
}

/** The rules that a trigger sends by. */
interface Rules {
  definition: Campaign
  version: number
  quietHours: ProjectRules['quietHours']
}

const refusals = { opted_out: 'OPTED_OUT', topic_opted_out: 'TOPIC_OPTED_OUT' } as const

/**
 * Makes the check of messages that wait for a retry, or whose process died. Since they were written, users may have opted
 * out, and quiet hours may have begun.
 */
export const createRecheck =
  (options: RecheckOptions): Recheck =>
  async (projectId, rows) => {
    const { pool } = options
    const verdicts = new Map<MessageRow, Verdict>()
    const rulesOf = await loadRules(options, projectId, rows)
    const concerned = rows.filter(({ trigger_id }) => rulesOf.has(trigger_id))
    if (concerned.length === 0) return verdicts
    const deviceIds = concerned.map(({ device_id }) => device_id)
    const recipients = new Map((await loadRecipients(pool, projectId, deviceIds)).map((one) => [one.device_id, one]))
    const named = new Set([...rulesOf.values()].flatMap(({ definition }) => definition.topic ?? []))
    const topics = await topicDefaults(pool, projectId, [...named])
    const now = new Date()
    for (const row of concerned) {
      const recipient = recipients.get(row.device_id)
      const verdict = recipient && verdictOn(row, rulesOf.get(row.trigger_id)!, recipient, topics, now)
      if (verdict) verdicts.set(row, verdict)
    }
    await delaySteps(options, projectId, verdicts, rulesOf)
    return verdicts
  }

/** Steps keep their distance: the one after a message that is held waits from when quiet hours let the message go. */
async function delaySteps(
  { pool, sequences }: RecheckOptions,
  projectId: ProjectId,
  verdicts: Map<MessageRow, Verdict>,
  rulesOf: Map<string, Rules>
): Promise<void> {
  const held = [...verdicts].flatMap(([{ trigger_id, campaign_id, step, user_id }, verdict]) => {
    const { definition, version } = rulesOf.get(trigger_id)!
    if (!('until' in verdict) || !definition.steps || campaign_id === null || user_id === null) return []
    return { sent: { campaign_id, campaign_version: version, step }, userId: user_id, until: verdict.until }
  })
  const groups = Map.groupBy(held, ({ sent, until }) => JSON.stringify([sent, until]))
  for (const members of groups.values()) {
    const { sent, until }: { sent: SentStep; until: Date } = members[0]!
    const userIds = [...new Set(members.map(({ userId }) => userId))]
    await pool.transaction((tx) => sequences().waitFrom(tx, projectId, sent, userIds, until))
  }
}

/** The rules of triggers by their ids, without those that always send. */
async function loadRules({ pool, versions, projectOf }: RecheckOptions, projectId: ProjectId, rows: MessageRow[]) {
  const rulesOf = new Map<string, Rules>()
  // A direct send has no campaign.
  const ids = new Set(rows.flatMap(({ campaign_id, trigger_id }) => (campaign_id === null ? [] : trigger_id)))
  if (ids.size === 0) return rulesOf
  for (const { id, campaign_id, campaign_version } of await versionsOf(pool, projectId, [...ids])) {
    const { definition } = await versions.get(projectId, campaign_id, campaign_version)
    if (isTransactional(definition) && !definition.quiet_hours) continue
    const { quietHours } = await rulesFor(projectOf, projectId, definition)
    rulesOf.set(id, { definition, version: campaign_version, quietHours })
  }
  return rulesOf
}

function verdictOn(
  row: MessageRow,
  { definition, quietHours }: Rules,
  recipient: RecipientWithChoices,
  topics: TopicDefaults,
  now: Date
): Verdict | undefined {
  const refusal = refusalBy(recipient.choices, definition, topics)
  if (refusal) return { skip: refusals[refusal] }
  if (row.not_after <= now) return undefined
  const quiet = quietFor(hoursOf(definition, quietHours), recipient, now)
  if (quiet === undefined) return undefined
  return quiet === 'skip' || quiet >= row.not_after.getTime() ? { skip: 'QUIET_HOURS' } : { until: new Date(quiet) }
}
