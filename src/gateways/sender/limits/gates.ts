import type { FailureCode } from '../../reasons.ts'

export interface Gate {
  until: number
  reason: FailureCode
  gatewayCode: string
}

export interface Gates {
  /** Without a token, the gate applies to all pushes to this gateway. */
  close(token: string | undefined, gate: Gate): void
  /** The gate that holds back pushes to this token now. */
  closed(token: string, now: number): Gate | undefined
}

const mostDevices = 10_000

/** Times before which a gateway accepts no more pushes, for the devices that it named or for all. */
export function createGates(): Gates {
  const devices = new Map<string, Gate>()
  let all: Gate | undefined

  return {
    close(token, gate) {
      if (token === undefined) {
        if (!all || all.until < gate.until) all = gate
        return
      }
      devices.delete(token)
      devices.set(token, gate)
      // The oldest gate is dropped: the gateway will respond the same way again.
      const [oldest] = devices.keys()
      if (devices.size > mostDevices) devices.delete(oldest!)
    },
    closed(token, now) {
      if (all && all.until > now) return all
      all = undefined
      const gate = devices.size > 0 ? devices.get(token) : undefined
      if (gate && gate.until <= now) devices.delete(token)
      return gate && gate.until > now ? gate : undefined
    }
  }
}
