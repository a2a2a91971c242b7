import type { Log } from '../../platform/log.ts'
import { steadyMs } from '../../platform/time.ts'
import type { Credential } from '../credentials/credential.ts'
import type { Later, Refused, Renew, Verdict } from '../gateway.ts'
import type { Outcome, Push } from '../push.ts'
import { failureReasons } from '../reasons.ts'
import type { Circuit } from './circuit.ts'
import type { Link } from './connections.ts'
import type { Gates } from './gates.ts'
import type { Guard } from './guard.ts'
import { rejected, retry } from './outcomes.ts'
import type { PresentedToken } from './presented-token.ts'

/** One push on its way. */
export interface Entry {
  readonly push: Push
  readonly done: (outcome: Outcome) => void
  readonly dueAt: number
  /** Not sent until then: it is given back. */
  readonly leaveAt: number
  sentAt: number
  /** The same by the wall clock. */
  sentWallMs: number
  refusals: number
  /** The provider token that was too old when it was sent the first time. */
  renewed: string | undefined
  reconnected: boolean
}

export interface JudgeOptions {
  credential: Credential
  circuit: Circuit
  gates: Gates
  guard: Guard
  presented: PresentedToken
  log: Log
  end(entry: Entry, outcome: Outcome): void
  /** Once more, at no cost. */
  again(entry: Entry, message: string, gatewayCode: string): void
  /** Ends all that waits. */
  giveBack(outcome: () => Outcome): void
}

const unrenewedMs = 30_000
const wrongClock =
  'The gateway calls a new provider token too old: check the clocks of this machine and of the database.'

/** What an answer means for its push, and for those that come after. */
export function createJudge(options: JudgeOptions) {
  const { credential, circuit, gates, guard, presented, log, end, again, giveBack } = options

  function judge(entry: Entry, link: Link, token: string, verdict: Verdict): void {
    if (verdict.kind === 'accepted') {
      circuit.right()
      guard.accepted()
      end(entry, verdict)
    } else if (verdict.kind === 'rejected') refuse(entry, verdict)
    else if (verdict.kind === 'retry') postpone(entry, verdict)
    else if (verdict.kind === 'renew') renew(entry, token, verdict)
    else {
      link.connection.drain()
      if (entry.reconnected) judge(entry, link, token, verdict.otherwise)
      else {
        entry.reconnected = true
        again(entry, verdict.otherwise.message, verdict.otherwise.gatewayCode)
      }
    }
  }

  function refuse(entry: Entry, verdict: Refused) {
    if (verdict.credentialWrong) return refuseCredential(entry, verdict.gatewayCode, verdict.message)
    if (verdict.reason !== 'CREDENTIALS_INVALID') circuit.right()
    if (verdict.tokenDead !== undefined) guard.tokenDead()
    end(entry, refusal(verdict, entry.sentWallMs))
  }

  let suspects = false

  /** Said once: most tokens are refused, which is rather the bundle id or the environment than the tokens. */
  function suspect(code: string) {
    if (guard.holds && !suspects) {
      const { projectId: project, gateway, id } = credential
      const what =
        'most tokens are refused: the credential may be of another app or environment; no token is turned off'
      log.warn({ project, gateway, credential: id, reason: code }, what)
    }
    suspects = guard.holds
  }

  function refusal(verdict: Refused, sentWallMs: number): Outcome {
    const { tokenDead } = verdict
    const outcome = rejected(verdict.reason, verdict.message, verdict.gatewayCode)
    if (tokenDead !== undefined) suspect(verdict.gatewayCode)
    if (tokenDead === undefined || guard.holds) return outcome
    return { ...outcome, tokenDeadAsOf: new Date(tokenDead === 'now' ? sentWallMs : tokenDead) }
  }

  function postpone(entry: Entry, verdict: Later) {
    const { scope, reason, message, gatewayCode } = verdict
    const until = steadyMs() + verdict.afterMs
    if (scope !== 'push') gates.close(scope === 'device' ? entry.push.token : undefined, { until, reason, gatewayCode })
    if (scope === 'gateway') giveBack(() => retry(reason, until, { gatewayCode }))
    end(entry, retry(reason, until, { message, gatewayCode, free: false }))
  }

  /** The last token that was called invalid. One push tries its successor: a wrong key must not cost two requests each. */
  let invalid: string | undefined

  function renew(entry: Entry, token: string, { gatewayCode, otherwise }: Renew) {
    if (entry.renewed === undefined && !(otherwise && token === invalid)) {
      entry.renewed = token
      if (otherwise) invalid = token
      presented.renew(token)
      return again(entry, failureReasons.CREDENTIALS_INVALID, gatewayCode)
    }
    const isNew = entry.renewed !== undefined && entry.renewed !== token
    // A new token of Google's that Google refuses has nothing to do with our clock.
    if (otherwise || (isNew && credential.gateway !== 'apns'))
      return refuseToken(entry, gatewayCode, otherwise?.message)
    // Its owner may not make another so soon: Apple counts them. A new one that is too old was made by a wrong clock. No
    // attempt is counted: the push is good, and goes out once the clock is right or the token may be replaced.
    const until = steadyMs() + unrenewedMs
    const message = isNew ? wrongClock : 'The provider token is too old, and a newer one cannot be made yet.'
    if (isNew) circuit.wrong(steadyMs())
    gates.close(undefined, { until, reason: 'GATEWAY_UNAVAILABLE', gatewayCode })
    giveBack(() => retry('GATEWAY_UNAVAILABLE', until, { message, gatewayCode }))
    end(entry, retry('GATEWAY_UNAVAILABLE', until, { message, gatewayCode }))
  }

  /**
   * The gateway refuses the token. Where the credential has worked before, that is rather the clock of this machine, or a key
   * that was revoked, than a wrong key: the push waits, as it does behind an open circuit, and is not failed.
   */
  function refuseToken(entry: Entry, code: string, message?: string) {
    if (!circuit.proven || circuit.open) return refuseCredential(entry, code, message)
    circuit.wrong(steadyMs())
    if (circuit.open) return opened(entry, code, message)
    const at = steadyMs() + unrenewedMs
    end(entry, retry('CREDENTIALS_INVALID', at, { gatewayCode: code, ...(message !== undefined && { message }) }))
  }

  /** The circuit is open. Not a rejection: with the right key all that waits is delivered. */
  const suspended = (gatewayCode = '', message?: string): Outcome =>
    retry('CREDENTIALS_INVALID', circuit.probeAt, { gatewayCode, ...(message !== undefined && { message }) })

  function opened(entry: Entry, code: string, message?: string) {
    const { projectId: project, gateway, id } = credential
    log.warn({ project, gateway, credential: id, reason: code }, 'the gateway refuses the credential: pushes wait')
    giveBack(() => suspended(code, message))
    end(entry, suspended(code, message))
  }

  function refuseCredential(entry: Entry, code: string, message?: string) {
    const before = circuit.open
    circuit.wrong(steadyMs())
    if (circuit.open && !before) return opened(entry, code, message)
    end(entry, circuit.open ? suspended(code, message) : rejected('CREDENTIALS_INVALID', message, code))
  }

  return { judge, refusal, refuseToken, suspended }
}
