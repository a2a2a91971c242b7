import {
  loadRecipients,
  lookUpWinners,
  type ProjectRules,
  type Ready,
  type StoredTarget
} from '../../campaigns/campaigns.ts'
import type { Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { TemplateFailed } from '../../templates/templates.ts'
import type { RunningTrigger } from '../batches/expansion-store.ts'
import type { Explanation, Gate } from '../schemas.ts'
import { type MessageRow, type PlannedDevice, plannedDevices, type SkipRow } from './explain-store.ts'
import { passed, stopped } from './gates.ts'
import { deferredText, type Rules, skipText } from './rules.ts'

type Device = Explanation['devices'][0]

/** Reasons of skips by the segment. */
export const segmentReasons: ReadonlySet<string> = new Set(['not_in_segment', 'missing_trigger_property'])

/** Explains each device of a user: skipped, pending or sent to. */
export async function explainDevices(
  pool: Pool,
  projectId: ProjectId,
  known: {
    trigger: RunningTrigger
    ready: Ready
    ids: string[]
    skips: SkipRow[]
    messages: MessageRow[]
    /** The targets of the trigger that name the user or one of the devices, in order. */
    named: StoredTarget[]
    project: ProjectRules
    /** Whether only a cancel can have kept a message from being written. */
    canceled: boolean
  }
): Promise<Device[]> {
  const { trigger, ready, ids, skips, messages, named, project, canceled } = known
  const planned = await plannedDevices(pool, projectId, trigger.id, ids)
  const skipOf = (id: string) => skips.find(({ kind, value }) => kind === 'device_id' && value === id)
  const failed = ids.filter((id) => skipOf(id)?.reason === 'template_failed')
  const faults = await templateFaults(pool, projectId, { trigger, ready, ids: failed, named })
  const recipients = new Map((await loadRecipients(pool, projectId, ids)).map((one) => [one.device_id, one]))
  return ids.map((id) =>
    explainDevice(id, {
      rules: { definition: ready.definition, project, recipient: recipients.get(id) },
      skip: skipOf(id),
      fault: faults.get(id),
      message: messages.find(({ device_id }) => device_id === id),
      planned: planned.find((one) => one.id === id),
      canceled
    })
  )
}

function explainDevice(
  device_id: string,
  {
    rules,
    skip,
    fault,
    message,
    planned,
    canceled
  }: {
    rules: Rules
    skip: SkipRow | undefined
    fault: string | undefined
    message: MessageRow | undefined
    planned: PlannedDevice | undefined
    canceled: boolean
  }
): Device {
  const device = { device_id, message_id: message?.message_id ?? null }
  if (skip && fault) return { ...device, state: 'failed', gates: [stopped('rules', skip.reason, fault)] }
  if (skip) {
    const gate = segmentReasons.has(skip.reason) ? 'segment' : 'rules'
    return { ...device, state: 'skipped', gates: [stopped(gate, skip.reason, skipText(skip.reason, rules))] }
  }
  if (message)
    return {
      ...device,
      state: message.state,
      gates: [passed('rules', writtenAs(message)), deliveryGate(message)]
    }
  if (planned) return { ...device, state: 'pending', gates: [plannedGate(planned, rules)] }
  return canceled
    ? { ...device, state: 'skipped', gates: [stopped('rules', 'canceled', skipText('canceled', rules))] }
    : { ...device, state: 'none', gates: [] }
}

/** Names the variant and the language that the recipient got, where the campaign has several. */
function writtenAs({ variant, language }: MessageRow): string {
  const said = [variant && `variant ${variant}`, language && `language ${language}`].filter(Boolean)
  return said.length > 0 ? `The message was written: ${said.join(', ')}.` : 'The message was written.'
}

/** How long these messages wait for their turn to be rendered. */
const renderMs = 5_000

/** Renders again, as of now: the fault is not stored for each of a million messages. */
async function templateFaults(
  pool: Pool,
  projectId: ProjectId,
  { trigger, ready, ids, named }: { trigger: RunningTrigger; ready: Ready; ids: string[]; named: StoredTarget[] }
): Promise<Map<string, string>> {
  const faults = new Map(ids.map((id) => [id, 'The message could not be rendered when the batch was sent.']))
  if (ids.length === 0) return faults
  const recipients = (await loadRecipients(pool, projectId, ids)).map((one) => ({ ...one, own: ownOf(one, named) }))
  const texts = ready.texts(trigger.step)
  const winnerOf = await lookUpWinners(pool, projectId, [{ campaignId: trigger.campaign_id, texts }])
  const winner = winnerOf(trigger.campaign_id, texts)
  const names = recipients.map((recipient) => texts.choose(recipient, winner).text)
  const rendered = await texts.rendering.for(trigger, trigger.id)(recipients, Date.now() + renderMs, names)
  for (const [index, { device_id }] of recipients.entries()) {
    const fault = rendered[index]
    if (fault instanceof TemplateFailed) faults.set(device_id, `The message cannot be rendered: ${fault.message}`)
  }
  return faults
}

/** The properties that the first target of a device gives to it. */
const ownOf = ({ device_id }: { device_id: string }, named: StoredTarget[]) =>
  named.find(([kind, value]) => kind !== 'device_id' || value === device_id)?.[2]

function plannedGate({ due_at, deferred }: PlannedDevice, rules: Rules): Gate {
  if (due_at.getTime() <= Date.now()) return stopped('rules', 'pending', 'The batch waits for a worker.')
  const until = due_at.toISOString()
  return deferred
    ? stopped('rules', 'quiet_hours', deferredText(due_at, rules))
    : stopped('rules', 'pending', `The throttle of the campaign defers the message until about ${until}.`)
}

function deliveryGate({ state, reason, reason_message }: MessageRow): Gate {
  if (state === 'accepted') return passed('delivery', 'The gateway accepted the message.')
  if (state === 'failed' || state === 'skipped')
    return stopped('delivery', reason ?? state, reason_message ?? `The message was ${state}.`)
  return stopped('delivery', 'pending', 'The message is being sent.')
}
