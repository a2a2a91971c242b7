import type { Outcome, Push, Sender } from '../../src/gateways/gateways.ts'

/** What the gateway does with a push: answers, answers later, or never. */
type Reaction = Outcome | Promise<Outcome> | 'silence'

/** Stands in the place of the gateways: remembers what it got and answers as the test says. */
export interface ScriptedSender extends Sender {
  /** Everything that was handed over, in order, repeats too. */
  readonly pushes: Push[]
  /** Those to one device or token. */
  to(deviceId: string): Push[]
  /** How to react to pushes to a device, one entry for each, the last one for all that follow. */
  script(deviceId: string, ...reactions: Reaction[]): void
  /** As if the pool were full: nothing is taken until it is opened again. */
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
