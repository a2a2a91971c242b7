import type { ChannelContent, Outcome, Push, Sender } from '../gateways/gateways.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import { steadyMs } from '../platform/time.ts'
import type { ChannelRow } from './store.ts'

/** What a job has left to do: nothing, the next piece at once, or the next piece after a wait. */
export type Left = 'nothing' | 'more' | { waitMs: number; reason: string }

/** The longest wait for room at the sender. A full pool for this long means that Apple takes nothing. */
const roomMs = 5_000

interface Asked {
  messageId?: string
  priority?: 'high' | 'normal'
  notAfter: number
  /** Whether Apple may have received it before. */
  repeat?: boolean
}

/** Makes one request about a channel by the way of all pushes: its connections, limits and credentials are theirs. */
export async function askApple(
  sender: Sender,
  projectId: ProjectId,
  { id, app, environment }: Pick<ChannelRow, 'id' | 'app' | 'environment'>,
  content: ChannelContent,
  { messageId = newId(), priority = 'high', notAfter, repeat = false }: Asked
): Promise<Outcome> {
  const push: Push = {
    projectId,
    messageId,
    pushId: newId(),
    deviceId: id,
    gateway: 'apns',
    environment,
    app,
    // The sender slows down per token. The id of the channel keeps a busy channel from slowing down the others.
    token: id,
    registeredAt: new Date(0),
    content,
    collapseId: '',
    priority,
    notAfter,
    repeat,
    urgent: true
  }
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  const giveUpAt = steadyMs() + roomMs
  while (!sender.submit(push, resolve)) {
    const waitMs = giveUpAt - steadyMs()
    if (waitMs <= 0) return full()
    await Promise.race([sender.ready(push), new Promise((wake) => setTimeout(wake, waitMs).unref())])
  }
  return promise
}

const full = (): Outcome => ({
  kind: 'retry',
  reason: 'GATEWAY_UNAVAILABLE',
  message: 'The gateway takes pushes too slowly.',
  gatewayCode: '',
  notBefore: Date.now() + 1_000,
  free: true
})
