import { loadRecipients, type Ready } from '../../campaigns/campaigns.ts'
import type { MessageState } from '../../messages/messages.ts'
import type { Pool } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { TemplateFailed } from '../../templates/templates.ts'
import type { Work } from '../batches/batch-store.ts'
import type { Explanation, Gate } from '../schemas.ts'

const waitingIn = statement(
  'explain.waiting',
  `select d.id, c.due_at, c.held from trigger_chunks c join unnest($3::text[]) as d(id) on d.id = any(c.device_ids)
    where c.project_id = $1 and c.trigger_id = $2 and c.state = 'planned' limit 200`
)

export interface Skipped {
  kind: string
  value: string
  reason: string
}

export interface Message {
  device_id: string
  message_id: string
  state: MessageState
  reason: string | null
  reason_message: string | null
}

interface Waiting {
  id: string
  due_at: Date
  held: boolean
}

export const passed = (gate: Gate['gate'], message: string): Gate => ({ gate, passed: true, reason: null, message })
export const stopped = (gate: Gate['gate'], reason: string, message: string): Gate => ({
  gate,
  passed: false,
  reason,
  message
})

/** Reasons by which a segment stopped it. */
export const ofSegment: ReadonlySet<string> = new Set(['not_in_segment', 'missing_trigger_property'])

/** Why a device was passed over, for people. */
const inWords: Readonly<Record<string, string>> = {
  not_in_segment: 'The segment did not match the device when it was sent.',
  missing_trigger_property: 'The segment refers to a property that the trigger does not have.',
  quiet_hours: 'It was quiet hours there when it was sent.',
  frequency_cap: 'The user had already got as many of this campaign as the frequency cap allows.',
  expired: 'When its turn came it was no longer wanted: ttl_seconds had passed.',
  no_push_token: 'The device has no push token, or the user does not allow pushes.',
  no_live_activity_token: 'The app has given no token to start this Live Activity by.',
  unsupported_platform: 'This cannot be sent to the platform of the device.',
  canceled: 'The trigger was canceled before its turn came.'
}

/** What became of each device of a user: passed over, waiting, or sent to. */
export async function devicesOf(
  pool: Pool,
  projectId: ProjectId,
  { work, ready, ids, skips, sent }: { work: Work; ready: Ready; ids: string[]; skips: Skipped[]; sent: Message[] }
): Promise<Explanation['devices']> {
  const waiting = await pool.query<Waiting>(waitingIn, [projectId, work.id, ids])
  const skipOf = (id: string) => skips.find(({ kind, value }) => kind === 'device_id' && value === id)
  const failing = ids.filter((id) => skipOf(id)?.reason === 'template_failed')
  const faults = await templateFaults(pool, projectId, work, ready, failing)
  return ids.map((id) => {
    const message = sent.find(({ device_id }) => device_id === id)
    const skip = skipOf(id)
    const wait = waiting.find((one) => one.id === id)
    const answer = { device_id: id, message_id: message?.message_id ?? null }
    if (skip?.reason === 'template_failed')
      return { ...answer, state: 'failed', gates: [stopped('rules', skip.reason, faults.get(id)!)] }
    if (skip) {
      const words = inWords[skip.reason] ?? 'It was passed over when it was sent.'
      return {
        ...answer,
        state: 'skipped',
        gates: [stopped(ofSegment.has(skip.reason) ? 'segment' : 'rules', skip.reason, words)]
      }
    }
    if (message)
      return {
        ...answer,
        state: message.state,
        gates: [passed('rules', 'The message was made.'), deliveryGate(message)]
      }
    return wait ? { ...answer, state: 'pending', gates: [waitGate(wait)] } : { ...answer, state: 'none', gates: [] }
  })
}

/** How long it waits for its turn to be rendered. */
const renderMs = 5_000

/** What is wrong is not kept for each of a million messages: it is made again, as of now, for the few that are asked about. */
async function templateFaults(pool: Pool, projectId: ProjectId, work: Work, ready: Ready, ids: string[]) {
  const found = new Map(ids.map((id) => [id, 'The message could not be made when it was sent.']))
  if (ids.length === 0) return found
  const recipients = await loadRecipients(pool, projectId, ids)
  const rendered = await ready.rendering.for(work, work.id)(recipients, Date.now() + renderMs)
  for (const [index, { device_id }] of recipients.entries()) {
    const fault = rendered[index]
    if (fault instanceof TemplateFailed) found.set(device_id, `The message cannot be made: ${fault.message}`)
  }
  return found
}

function waitGate({ due_at, held }: Waiting): Gate {
  if (due_at.getTime() <= Date.now()) return stopped('rules', 'pending', 'It waits for its turn.')
  const until = due_at.toISOString()
  return held
    ? stopped('rules', 'quiet_hours', `Quiet hours hold it until ${until}.`)
    : stopped('rules', 'pending', `The throttle of the campaign lets it go at about ${until}.`)
}

function deliveryGate({ state, reason, reason_message }: Message): Gate {
  if (state === 'accepted') return passed('delivery', 'A gateway accepted it.')
  if (state === 'failed' || state === 'skipped')
    return stopped('delivery', reason ?? state, reason_message ?? `It was ${state}.`)
  return stopped('delivery', 'pending', 'It is under way.')
}
