import type { StoredTarget } from '../campaigns/campaigns.ts'
import { roughBytes } from '../platform/coalesce.ts'
import type { Db } from '../platform/db/db.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import type { NewTrigger, Triggers } from '../triggers/triggers.ts'
import type { Plan } from './plan.ts'
import { devicesOfAnonymous } from './steps-store.ts'

export type TriggerMaker = Pick<
  Triggers,
  'acceptInternal' | 'skipUsers' | 'propertiesOf' | 'canceledAmong' | 'heldUsers'
>

/** A user who gets a message, with the values of its templates. */
export interface Recipient {
  userId: string
  properties: Record<string, unknown>
  /** Details of the event, shown if the trigger is for this user alone. */
  source?: Record<string, unknown>
}

interface Message<One extends Recipient> {
  plan: Plan
  /** The step; null for a campaign without steps. */
  step: string | null
  recipients: One[]
  kind: 'event' | 'step'
  /** The trigger of the first step. */
  of?: string | null
  /** Values that all recipients share. */
  properties?: Record<string, unknown>
}

/** Limits of a trigger: those of a call of the API, with room for what a byte count misses. */
const mostTargets = 20_000
const mostBytes = 4 * 1024 * 1024

/**
 * Makes triggers that send one message of a campaign to many users. A user is in a trigger once: a second event of the same
 * user goes into another one, because a device gets one message of a trigger. Returns each trigger with its users; without
 * an id if the campaign is not active.
 */
export async function acceptTogether<One extends Recipient>(
  tx: Db,
  projectId: ProjectId,
  { acceptInternal }: TriggerMaker,
  message: Message<One>
): Promise<{ triggerId: string | undefined; recipients: One[] }[]> {
  const groups = inGroups(message.recipients).map((recipients) => ({ id: newId(), recipients }))
  const userIds = [...new Set(message.recipients.map(({ userId }) => userId))]
  const devices = await devicesOfAnonymous(tx, projectId, userIds)
  const written = await acceptInternal(
    tx,
    projectId,
    groups.map(({ id, recipients }) => triggerOf(id, message, recipients, devices))
  )
  return groups.map(({ id, recipients }) => ({ triggerId: written.has(id) ? id : undefined, recipients }))
}

function triggerOf(
  id: string,
  message: Message<Recipient>,
  recipients: Recipient[],
  devices: ReadonlyMap<string, string>
): NewTrigger {
  const { plan, step, kind, of, properties = {} } = message
  const [only] = recipients
  const alone = recipients.length === 1 && only
  const source =
    kind === 'step'
      ? { kind, step, of: of ?? null }
      : { kind, ...(alone ? alone.source : { events: recipients.length }) }
  // An anonymous user may log in before the trigger starts, and is another user then: the device stays.
  const nameOf = (userId: string): StoredTarget => {
    const device = devices.get(userId)
    return device === undefined ? ['user_id', userId] : ['device_id', device]
  }
  return {
    id,
    campaignId: plan.campaignId,
    campaignVersion: plan.version,
    audience: {
      targets: alone
        ? [nameOf(alone.userId)]
        : recipients.map(({ userId, properties: own }) => {
            const [kind, value] = nameOf(userId)
            return Object.keys(own).length > 0 ? [kind, value, own] : [kind, value]
          })
    },
    properties: alone ? { ...properties, ...alone.properties } : properties,
    source,
    ...(step !== null && { step })
  }
}

/** Puts each user once into a group, and limits the size of groups. */
function inGroups<One extends Recipient>(recipients: One[]): One[][] {
  const groups: { recipients: One[]; users: Set<string>; bytes: number }[] = []
  const placeOf = new Map<string, number>()
  let first = 0
  for (const recipient of recipients) {
    const bytes = roughBytes(recipient.properties) + 64
    let place = Math.max(first, placeOf.get(recipient.userId) ?? 0)
    for (; ; place += 1) {
      const group = groups[place] ?? { recipients: [], users: new Set(), bytes: 0 }
      groups[place] = group
      const full =
        group.recipients.length >= mostTargets || (group.bytes + bytes > mostBytes && group.recipients.length > 0)
      if (full && place === first) first = place + 1
      if (full || group.users.has(recipient.userId)) continue
      group.recipients.push(recipient)
      group.users.add(recipient.userId)
      group.bytes += bytes
      placeOf.set(recipient.userId, place + 1)
      break
    }
  }
  return groups.map((group) => group.recipients)
}
