import type { Outcome, Push, Sender } from '../../src/gateways/gateways.ts'

/** The reaction of the gateway to a push: it responds, responds later, or never. */
type Reaction = Outcome | Promise<Outcome> | 'silence'

/** Stands in for the gateways: records the pushes and responds as the test says. */
export interface ScriptedSender extends Sender {
  /** Every dispatched push in order, including repeats. */
  readonly pushes: Push[]
  /** The pushes to one device or token. */
  to(deviceId: string): Push[]
  /** The reactions to pushes to a device, one entry for each push; the last one applies to all later pushes. */
  script(deviceId: string, ...reactions: Reaction[]): void
  /** Acts like a full pool: accepts nothing until it is opened again. */
  shut(): void
  open(): void
}

let counted = 0
export const accepted = (): Outcome => ({ kind: 'accepted', gatewayMessageId: `gateway-${++counted}` })
export const rejected = (reason: Extract<Outcome, { kind: 'rejected' }>['reason'], tokenDeadAsOf?: Date): Outcome => ({
  kind: 'rejected',
  reason,
  message: `Refused: ${reason}.`,
  gatewayCode: `Raw${reason}`,
  ...(tokenDeadAsOf && { tokenDeadAsOf })
})
export const retry = (
  reason: Extract<Outcome, { kind: 'retry' }>['reason'],
  { notBefore = 0, free = false } = {}
): Outcome => ({ kind: 'retry', reason, message: `Later: ${reason}.`, gatewayCode: `Raw${reason}`, notBefore, free })
export const lost = (reason: 'CONNECTION_LOST' | 'GATEWAY_TIMEOUT' = 'CONNECTION_LOST'): Outcome => ({
  kind: 'unknown',
  reason,
  message: `Lost: ${reason}.`
})

export function scriptedSender(): ScriptedSender {
  const pushes: Push[] = []
  const scripts = new Map<string, Reaction[]>()
  let gate: PromiseWithResolvers<void> | undefined

  return {
    pushes,
    to: (deviceId) => pushes.filter((push) => push.deviceId === deviceId),
    script: (deviceId, ...reactions) => void scripts.set(deviceId, reactions),
    shut() {
      gate ??= Promise.withResolvers<void>()
    },
    open() {
      gate?.resolve()
      gate = undefined
    },
    submit(push, done) {
      if (gate) return false
      pushes.push(structuredClone(push))
      const script = scripts.get(push.deviceId) ?? []
      const reaction = (script.length > 1 ? script.shift() : script[0]) ?? accepted()
      if (reaction !== 'silence') void Promise.resolve(reaction).then((outcome) => setImmediate(done, outcome))
      return true
    },
    ready: () => gate?.promise ?? Promise.resolve(),
    close: async () => {}
  }
}
