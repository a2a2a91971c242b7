import type { Reach, ReachFacts } from '../policies/verdict.ts'
import type { ApprovalRow } from './store.ts'

/** Targets that a response lists; a command may have 20,000. */
const mostTargets = 20

const factsOf = ({ campaignId, campaignName, campaignVersion, broadcast, ...facts }: ReachFacts) => ({
  campaign_id: campaignId ?? null,
  campaign_name: campaignName ?? null,
  campaign_version: campaignVersion ?? null,
  broadcast: broadcast ?? false,
  recipients: facts.recipients,
  devices: facts.devices,
  complete: facts.complete
})

/** An approval as routes return it. Times become text in JSON. */
export const approvalResponse = (row: ApprovalRow, url: string) => ({
  id: row.id,
  state: row.state,
  skill: row.skill,
  ...factsOf(row.facts),
  excluded: row.facts.excluded,
  sample: row.facts.sample.map(({ projectUserId, title, body }) => ({ project_user_id: projectUserId, title, body })),
  command: commandOf(row.command),
  reason: row.reason,
  key: { id: row.key_id, name: row.key_name },
  agent: row.agent,
  task_id: row.task_id,
  requested_at: row.requested_at,
  expires_at: row.expires_at,
  decided_at: row.decided_at,
  decided_by: row.decided_by,
  note: row.note,
  superseded_by: row.superseded_by,
  url
})

/** The same as the data of a webhook event: what a person needs to go and look. */
export const approvalEvent = (row: ApprovalRow, url: string) => ({
  approval_id: row.id,
  state: row.state,
  skill: row.skill,
  ...factsOf(row.facts),
  reason: row.reason,
  key_id: row.key_id,
  key_name: row.key_name,
  agent: row.agent,
  task_id: row.task_id,
  decided_by: row.decided_by,
  note: row.note,
  url
})

/** The command in the words of the skill, with its first targets and the number of all. */
function commandOf(reach: Reach): Record<string, unknown> {
  if ('push' in reach) return { ...reach.push }
  const { audience, ...rest } = reach.trigger
  if (!audience || !('targets' in audience)) return { ...rest, ...audience }
  return { ...rest, targets: audience.targets.slice(0, mostTargets), targetCount: audience.targets.length }
}
