import { createHash } from 'node:crypto'
import { reach } from '../devices/devices.ts'
import { type Content, type FailureCode, type GatewayName, payloadSize as sizeAt } from '../gateways/gateways.ts'
import type { Db } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { isUuid, type ProjectId } from '../platform/ids.ts'
import { identity } from '../users/users.ts'
import type { Target } from './fields.ts'
import type { ActivityChangeItem, ActivityStartItem, PushItem } from './items.ts'
import type { DeadEnd, MessageDraft, PushTarget } from './message.ts'
import { type ActivityTokenRow, activityTargetOf, pushTargetOf, type ReachRow } from './targets.ts'

/** One item of a request: its pushes, or why there is none. */
export type Planned = { drafts: MessageDraft[] } | { deadEnd: DeadEnd }

/** What all items have: an id, and how long and how eagerly they are wanted. */
export interface Wish {
  messageId: string
  priority: 'high' | 'normal'
  notAfter: number
}

/** What no gateway takes by far is not copied for every device. */
const maxContentBytes = 16 * 1024
/** Pushes of one request, all of which are in memory while it runs. For more there are campaigns. */
const mostPushes = 20_000

interface Addressed {
  userId: string | null
  devices: ReachRow[]
  reason: FailureCode | null
}

/** The users and devices that targets name, in three statements however many there are. */
async function address(
  db: Db,
  projectId: ProjectId,
  targets: Target[],
  tooMany: 'invalid_push_notification' | 'invalid_live_activity'
): Promise<Addressed[]> {
  const names = targets.flatMap((target) => ('projectUserId' in target ? target.projectUserId : []))
  const given = targets.flatMap((target) => ('userId' in target && isUuid(target.userId) ? target.userId : []))
  const deviceIds = targets.flatMap((target) => ('deviceId' in target ? target.deviceId : []))
  const idOf = names.length > 0 ? await identity.idsOf(db, projectId, names) : new Map<string, string>()
  const existing = given.length > 0 ? await identity.namesOf(db, projectId, given) : new Map<string, string | null>()
  const userIds = [...new Set([...idOf.values(), ...existing.keys()])]
  const devices = await reach.findReach(db, projectId, userIds, deviceIds)
  const byUser = Map.groupBy(devices, ({ user_id }) => user_id)
  const byId = new Map(devices.map((device) => [device.id, device]))
  const addressed = targets.map((target): Addressed => {
    if ('deviceId' in target) {
      const device = byId.get(target.deviceId)
      if (!device) return { userId: null, devices: [], reason: 'NO_DEVICE' }
      return { userId: device.user_id, devices: [device], reason: null }
    }
    const asked = 'userId' in target ? target.userId.toLowerCase() : undefined
    const userId = 'projectUserId' in target ? idOf.get(target.projectUserId) : asked && existing.has(asked) && asked
    if (!userId) return { userId: null, devices: [], reason: 'USER_NOT_FOUND' }
    const own = byUser.get(userId) ?? []
    return { userId, devices: own, reason: own.length === 0 ? 'NO_DEVICE' : null }
  })
  const pushes = addressed.reduce((sum, { devices }) => sum + devices.length, 0)
  if (pushes > mostPushes) throw new Refusal(tooMany, `reaches ${pushes} devices at once; at most ${mostPushes}`)
  return addressed
}

/** Of several devices that cannot be reached, the one that is nearest to it tells why. */
const nearness: FailureCode[] = ['NO_LIVE_ACTIVITY_TOKEN', 'NO_PUSH_TOKEN', 'UNSUPPORTED_PLATFORM']

function plan(
  wish: Wish,
  content: Content,
  { userId, devices, reason }: Addressed,
  targetOf: (device: ReachRow) => PushTarget | FailureCode
): Planned {
  const found = devices.map((device) => [device, targetOf(device)] as const)
  const drafts = found.flatMap(([device, target]) =>
    typeof target === 'string' ? [] : [draftOf(wish, content, device.user_id, target)]
  )
  const tooLarge = Buffer.byteLength(JSON.stringify(content)) > maxContentBytes
  if (drafts.length > 0 && !tooLarge) return { drafts }
  const causes = new Set(found.flatMap(([, target]) => (typeof target === 'string' ? target : [])))
  const cause = nearness.find((code) => causes.has(code))
  return {
    deadEnd: {
      messageId: wish.messageId,
      userId,
      deviceId: devices.length === 1 ? devices[0]!.id : '',
      content: tooLarge ? shortened(content) : content,
      reason: drafts.length > 0 ? 'PAYLOAD_TOO_LARGE' : (reason ?? cause ?? 'NO_PUSH_TOKEN')
    }
  }
}

/** What is kept of a content that nobody can be sent. Of an activity nothing is shown. */
function shortened(content: Content): Content {
  if (content.kind === 'alert')
    return { kind: 'alert', notification: { title: (content.notification.title ?? '').slice(0, 200) } }
  if (content.kind !== 'activity-start')
    return { kind: content.kind, activity: { contentState: {}, timestamp: content.activity.timestamp } }
  const { attributesType } = content.activity
  const none = { attributes: {}, contentState: {}, alert: { title: '', body: '' } }
  return { kind: 'activity-start', activity: { attributesType, ...none } }
}

const draftOf = (wish: Wish, content: Content, userId: string, device: PushTarget): MessageDraft => ({
  ...wish,
  triggerId: wish.messageId,
  campaignId: null,
  userId,
  device,
  content,
  collapseId: collapseIdOf(content, wish.messageId)
})

/** At most 64 bytes, as Apple wants it. What the caller chose comes first: it replaces what is shown under that key. */
export function collapseIdOf(content: Content, messageId: string): string {
  const key = content.kind === 'alert' ? content.notification.collapseKey : undefined
  if (key === undefined) return messageId
  return Buffer.byteLength(key) <= 64 ? key : createHash('sha256').update(key).digest('hex')
}

/** What a gateway would count of this content against its limit. */
export const payloadSize = (gateway: GatewayName, content: Content) =>
  sizeAt(gateway, content, (messageId) => collapseIdOf(content, messageId))

export async function planPushes(db: Db, projectId: ProjectId, items: PushItem[], wishes: Wish[]): Promise<Planned[]> {
  const addressed = await address(
    db,
    projectId,
    items.map(({ target }) => target),
    'invalid_push_notification'
  )
  return items.map(({ notification }, index) =>
    plan(wishes[index]!, { kind: 'alert', notification }, addressed[index]!, pushTargetOf)
  )
}

export async function planStarts(
  db: Db,
  projectId: ProjectId,
  items: ActivityStartItem[],
  wishes: Wish[]
): Promise<Planned[]> {
  const addressed = await address(
    db,
    projectId,
    items.map(({ target }) => target),
    'invalid_live_activity'
  )
  const types = [...new Set(items.map(({ activity }) => activity.attributesType))]
  const tokens = await reach.findStartTokens(db, projectId, idsOf(addressed), types)
  const byDevice = Map.groupBy(tokens, ({ device_id }) => device_id)
  return items.map(({ activity }, index) => {
    const tokenOf = (device: ReachRow) => {
      const own = byDevice.get(device.id) ?? []
      const ofType = (type: string) => own.find((token) => token.attributes_type === type)
      return ofType(activity.attributesType) ?? ofType('')
    }
    const content: Content = { kind: 'activity-start', activity }
    return plan(wishes[index]!, content, addressed[index]!, (device) => activityTargetOf(device, tokenOf(device)))
  })
}

export async function planChanges(
  db: Db,
  projectId: ProjectId,
  kind: 'activity-update' | 'activity-end',
  items: ActivityChangeItem[],
  wishes: Wish[]
): Promise<Planned[]> {
  const activityIds = items.flatMap(({ which }) => ('activityId' in which ? which.activityId : []))
  const running = await reach.findTokensOfActivities(db, projectId, activityIds)
  const byActivity = Map.groupBy(running, ({ activity_id }) => activity_id)
  const devices = await reach.findReach(
    db,
    projectId,
    [],
    running.map(({ device_id }) => device_id)
  )
  const byId = new Map(devices.map((device) => [device.id, device]))
  const targets = items.flatMap(({ which }) => ('target' in which ? which.target : []))
  const addressed = await address(db, projectId, targets, 'invalid_live_activity')
  const types = items.flatMap(({ which }) => ('target' in which ? which.attributesType : []))
  const ofTypes = await reach.findUpdateTokens(db, projectId, idsOf(addressed), [...new Set(types)])
  const ofDevice = Map.groupBy(ofTypes, ({ device_id }) => device_id)
  return items.map(({ which, activity }, index) => {
    const content: Content = { kind, activity }
    if ('activityId' in which) {
      const tokens = new Map((byActivity.get(which.activityId) ?? []).map((token) => [token.device_id, token]))
      const own = [...tokens.keys()].flatMap((id) => byId.get(id) ?? [])
      const reason = own.length === 0 ? ('NO_LIVE_ACTIVITY_TOKEN' as const) : null
      const addressee = { userId: own[0]?.user_id ?? null, devices: own, reason }
      return plan(wishes[index]!, content, addressee, (device) => activityTargetOf(device, tokens.get(device.id)))
    }
    // The newest activity of the type that runs on the device: tokens come in this order.
    const tokenOf = (device: ReachRow): ActivityTokenRow | undefined =>
      ofDevice.get(device.id)?.find((token) => token.attributes_type === which.attributesType)
    const addressee = addressed[targets.indexOf(which.target)]!
    return plan(wishes[index]!, content, addressee, (device) => activityTargetOf(device, tokenOf(device)))
  })
}

const idsOf = (addressed: Addressed[]) => [...new Set(addressed.flatMap(({ devices }) => devices.map(({ id }) => id)))]
