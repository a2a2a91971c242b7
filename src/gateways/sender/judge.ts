import type { Log } from '../../platform/log.ts'
import { steadyMs } from '../../platform/time.ts'
import type { Credential } from '../credentials/credential.ts'
import type { Later, Refused, Renew, Verdict } from '../gateway.ts'
import type { Outcome } from '../push.ts'
import { failureReasons } from '../reasons.ts'
import type { Link } from './connections.ts'
import type { Entry } from './entry.ts'
import type { Circuit } from './limits/circuit.ts'
import type { Gates } from './limits/gates.ts'
import type { Guard } from './limits/guard.ts'
import { rejected, retry } from './outcomes.ts'
import type { PresentedToken } from './presented-token.ts'

export interface JudgeOptions {
  credential: Credential
  circuit: Circuit
  gates: Gates
  guard: Guard
  presented: PresentedToken
  log: Log
  end(entry: Entry, outcome: Outcome): void
  /** Queues the push again without counting an attempt. */
  again(entry: Entry, message: string, gatewayCode: string): void
  /** Ends all waiting pushes. */
  giveBack(outcome: () => Outcome): void
}

const unrenewedMs = 30_000
const wrongClock =
  'The gateway calls a new provider token too old: check the clocks of this machine and of the database.'

/** Decides what a response means for its push and for later pushes. */
export class Judge {
  readonly #options: JudgeOptions
  #suspects = false
  /**
   * The last token that was called invalid. Only one push tries its successor: a wrong key must not cost each push two
   * requests.
   */
  #invalid: string | undefined

  constructor(options: JudgeOptions) {
    this.#options = options
  }

  judge(entry: Entry, link: Link, token: string, verdict: Verdict) {
    const { circuit, guard, end, again } = this.#options
    if (verdict.kind === 'accepted') {
      circuit.right()
      guard.accepted()
      end(entry, verdict)
    } else if (verdict.kind === 'rejected') this.#refuse(entry, verdict)
    else if (verdict.kind === 'retry') this.#postpone(entry, verdict)
    else if (verdict.kind === 'renew') this.#renew(entry, token, verdict)
    else {
      link.connection.drain()
      if (entry.reconnected) this.judge(entry, link, token, verdict.otherwise)
      else {
        entry.reconnected = true
        again(entry, verdict.otherwise.message, verdict.otherwise.gatewayCode)
      }
    }
  }

  refusal(verdict: Refused, sentWallMs: number): Outcome {
    const { tokenDead } = verdict
    const outcome = rejected(verdict.reason, verdict.message, verdict.gatewayCode)
    if (tokenDead !== undefined) this.#suspect(verdict.gatewayCode)
    if (tokenDead === undefined || this.#options.guard.holds) return outcome
    return { ...outcome, tokenDeadAsOf: new Date(isPast(tokenDead) ? tokenDead : sentWallMs) }
  }

  /**
   * The gateway refuses the token. If the credential has worked before, the key is probably right, and the clock of
   * this machine is wrong or the key was revoked. The push then waits, as behind an open circuit, and does not fail.
   */
  refuseToken(entry: Entry, code: string, message?: string) {
    const { circuit, end } = this.#options
    if (!circuit.proven || circuit.open) return this.#refuseCredential(entry, code, message)
    circuit.wrong(steadyMs())
    if (circuit.open) return this.#opened(entry, code, message)
    const at = steadyMs() + unrenewedMs
    end(entry, retry('CREDENTIALS_INVALID', at, { gatewayCode: code, ...(message !== undefined && { message }) }))
  }

  /**
   * The outcome while the circuit is open. It is no rejection: with the right key, all waiting pushes are delivered.
   */
  suspended(gatewayCode = '', message?: string): Outcome {
    const { probeAt } = this.#options.circuit
    return retry('CREDENTIALS_INVALID', probeAt, { gatewayCode, ...(message !== undefined && { message }) })
  }

  #refuse(entry: Entry, verdict: Refused) {
    const { circuit, guard, end } = this.#options
    if (verdict.credentialWrong) return this.#refuseCredential(entry, verdict.gatewayCode, verdict.message)
    if (verdict.reason !== 'CREDENTIALS_INVALID') circuit.right()
    if (verdict.tokenDead !== undefined) guard.tokenDead()
    end(entry, this.#noted(entry, this.refusal(verdict, entry.sentWallMs)))
  }

  /** Of reports that turn out not to be trusted, the first ones were: the outcome takes them back. */
  #noted({ push: { deviceId, token } }: Entry, outcome: Outcome): Outcome {
    const { guard } = this.#options
    if (outcome.kind !== 'rejected') return outcome
    if (outcome.tokenDeadAsOf) guard.believed({ deviceId, token, asOf: outcome.tokenDeadAsOf })
    const disbelieved = guard.holds ? guard.takeBack() : []
    return disbelieved.length > 0 ? { ...outcome, disbelieved } : outcome
  }

  /**
   * Warns once if most tokens are refused: then the bundle id or the environment is probably wrong, and not the tokens.
   */
  #suspect(code: string): void {
    const { credential, guard, log } = this.#options
    if (guard.holds && !this.#suspects) {
      const { projectId: project, gateway, id } = credential
      const what =
        'most tokens are refused: the credential may be of another app or environment; no token is turned off, and the last ones are on again'
      log.warn({ project, gateway, credential: id, reason: code }, what)
    }
    this.#suspects = guard.holds
  }

  #postpone(entry: Entry, verdict: Later) {
    const { gates, giveBack, end } = this.#options
    const { scope, reason, message, gatewayCode } = verdict
    const until = steadyMs() + verdict.afterMs
    if (scope !== 'push') gates.close(scope === 'device' ? entry.push.token : undefined, { until, reason, gatewayCode })
    if (scope === 'gateway') giveBack(() => retry(reason, until, { gatewayCode }))
    end(entry, retry(reason, until, { message, gatewayCode, free: false }))
  }

  #renew(entry: Entry, token: string, { gatewayCode, otherwise }: Renew) {
    const { credential, circuit, gates, presented, end, again, giveBack } = this.#options
    if (entry.renewed === undefined && !(otherwise && token === this.#invalid)) {
      entry.renewed = token
      if (otherwise) this.#invalid = token
      presented.renew(token)
      return again(entry, failureReasons.CREDENTIALS_INVALID, gatewayCode)
    }
    const isNew = entry.renewed !== undefined && entry.renewed !== token
    // If Google refuses a token that Google itself just made, the clock of this machine is not the cause.
    if (otherwise || (isNew && credential.gateway !== 'apns'))
      return this.refuseToken(entry, gatewayCode, otherwise?.message)
    // Apple limits how often a token may be made, so another one has to wait. A new token that counts as too old comes
    // from a wrong clock. No attempt is counted: the push is valid, and is sent once the clock is right or the token
    // may be replaced.
    const until = steadyMs() + unrenewedMs
    const message = isNew ? wrongClock : 'The provider token is too old, and a newer one cannot be made yet.'
    if (isNew) circuit.wrong(steadyMs())
    gates.close(undefined, { until, reason: 'GATEWAY_UNAVAILABLE', gatewayCode })
    giveBack(() => retry('GATEWAY_UNAVAILABLE', until, { message, gatewayCode }))
    end(entry, retry('GATEWAY_UNAVAILABLE', until, { message, gatewayCode }))
  }

  #opened(entry: Entry, code: string, message?: string): void {
    const { credential, log, giveBack, end } = this.#options
    const { projectId: project, gateway, id } = credential
    log.warn({ project, gateway, credential: id, reason: code }, 'the gateway refuses the credential: pushes wait')
    giveBack(() => this.suspended(code, message))
    end(entry, this.suspended(code, message))
  }

  #refuseCredential(entry: Entry, code: string, message?: string) {
    const { circuit, end } = this.#options
    const before = circuit.open
    circuit.wrong(steadyMs())
    if (circuit.open && !before) return this.#opened(entry, code, message)
    end(entry, circuit.open ? this.suspended(code, message) : rejected('CREDENTIALS_INVALID', message, code))
  }
}

/** A gateway may be wrong about the time at which a token ended, and PostgreSQL refuses times that are far away. */
const isPast = (time: number | 'now'): time is number => typeof time === 'number' && time > 0 && time <= Date.now()
