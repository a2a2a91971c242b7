import {
  type Campaign,
  hoursOf,
  loadRecipients,
  type ProjectOf,
  type ProjectRules,
  quietFor,
  type RecipientWithChoices,
  rulesFor,
  type StoredTarget,
  type Versions
} from '../campaigns/campaigns.ts'
import type { MessageRow, Recheck, Verdict } from '../messages/messages.ts'
import type { Pool } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { isTransactional, refusalBy, type TopicDefaults, topicDefaults } from '../preferences/preferences.ts'
import { loadTriggers, type RunningTrigger, versionsOf } from './batches/expansion-store.ts'
import type { SentStep, Sequences } from './batches/sequence.ts'
import { namedTargets } from './explain/explain-store.ts'

export interface RecheckOptions {
  pool: Pool
  versions: Versions
  projectOf: ProjectOf
  sequences: () => Pick<Sequences, 'exited' | 'waitFrom'>
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
 * out or left the campaign, and quiet hours may have begun.
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
    const left = await rowsOfThoseWhoLeft(options, projectId, concerned, rulesOf, recipients)
    const now = new Date()
    for (const row of concerned) {
      const recipient = recipients.get(row.device_id)
      const verdict = left.has(row)
        ? ({ skip: 'EXITED' } as const)
        : recipient && verdictOn(row, rulesOf.get(row.trigger_id)!, recipient, topics, now)
      if (verdict) verdicts.set(row, verdict)
    }
    await delaySteps(options, projectId, verdicts, rulesOf)
    return verdicts
  }

/** The messages whose users have left the steps of their campaign. */
async function rowsOfThoseWhoLeft(
  { pool, sequences }: RecheckOptions,
  projectId: ProjectId,
  rows: MessageRow[],
  rulesOf: Map<string, Rules>,
  recipients: ReadonlyMap<string, RecipientWithChoices>
): Promise<ReadonlySet<MessageRow>> {
  const left = new Set<MessageRow>()
  const mayLeave = rows.filter(({ trigger_id }) => rulesOf.get(trigger_id)!.definition.exit)
  const rowsOf = Map.groupBy(mayLeave, ({ trigger_id }) => trigger_id)
  if (rowsOf.size === 0) return left
  for (const trigger of await loadTriggers(pool, projectId, [...rowsOf.keys()])) {
    const own = rowsOf.get(trigger.id)!
    const known = own.flatMap(({ device_id }) => recipients.get(device_id) ?? [])
    const users = await sequences().exited(projectId, trigger, await withProperties(pool, projectId, trigger, known))
    for (const row of own) if (row.user_id !== null && users.has(row.user_id)) left.add(row)
  }
  return left
}

/** Adds the properties of targets. The first target that names a recipient counts. */
async function withProperties(
  pool: Pool,
  projectId: ProjectId,
  { id, target_properties }: RunningTrigger,
  recipients: RecipientWithChoices[]
): Promise<RecipientWithChoices[]> {
  if (!target_properties) return recipients
  const namesOf = ({ user_id, device_id, project_user_id }: RecipientWithChoices): StoredTarget[] => [
    ['user_id', user_id],
    ['device_id', device_id],
    ...(project_user_id === null ? [] : [['project_user_id', project_user_id] satisfies StoredTarget])
  ]
  const names = recipients.flatMap(namesOf)
  const found = await namedTargets(pool, projectId, id, names, names.length)
  const keyOf = ([kind, value]: StoredTarget) => `${kind} ${value}`
  const placeOf = new Map(found.map((target, place) => [keyOf(target), place] as const).reverse())
  return recipients.map((recipient) => {
    const places = namesOf(recipient).flatMap((name) => placeOf.get(keyOf(name)) ?? [])
    return { ...recipient, own: found[Math.min(...places)]?.[2] }
  })
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
    if (isTransactional(definition) && !definition.quiet_hours && !definition.exit) continue
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
