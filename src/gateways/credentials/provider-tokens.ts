import { createHash, createPrivateKey, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from '../../platform/db/db.ts'
import type { Log } from '../../platform/log.ts'
import { open, seal } from '../../platform/secrets/secrets.ts'
import { steadyMs } from '../../platform/time.ts'
import { type AccessToken, requestAccessToken } from '../fcm/oauth.ts'
import { type ApnsCredential, type FcmCredential, ProviderTokenFailed, type ProviderTokens } from './credential.ts'
import { signJwt } from './jwt.ts'
import * as store from './token-store.ts'

type Exchanged = ApnsCredential | FcmCredential

interface Token {
  token: string
  issuedAtMs: number
  refreshAtMs: number
  expiresAtMs: number
}

const minuteMs = 60_000
/** Apple: a token is valid for an hour, and at most one may be made in 20 minutes. */
const apnsLifeMs = 60 * minuteMs
const apnsRefreshMs = 50 * minuteMs
/** A token younger than this is not replaced, even if the gateway calls it expired: a new one would be refused as well. */
const youngestMs = { apns: 20 * minuteMs, fcm: minuteMs }
/** A token is not presented shortly before it expires: it might expire on the way. */
const marginMs = 30_000
/** The pause of all processes after a failure. */
const pauseMs = { refused: 5_000, unavailable: 2_000 }
const patienceMs = 15_000
const pollMs = 100
const maxCached = 10_000
const keptMs = 24 * 60 * minuteMs
/** A token issued later than this from now comes from a wrong clock. Nodes of older versions used their own clocks. */
const skewMs = minuteMs

export interface ProviderTokenOptions {
  pool: Pool
  key: Buffer
  log?: Log
  /** Replaces the database's clock in tests. */
  clock?: () => number
  /** Exchanges an FCM credential; replaced by tests. */
  exchange?: (credential: FcmCredential, nowMs: number) => Promise<AccessToken>
}

/**
 * One token for each key, made by one process at a time and shared through the database. Pushes use a copy in memory,
 * also after it is due for renewal, while the next token is being made. Times come from the database's clock: read with
 * every row, and continued with a clock that never jumps. The clock of this machine therefore plays no part, and all
 * nodes agree. A token that looks too old is compared with the database's clock again before it is replaced. A token
 * issued in the future does not count as current; one refresh replaces it.
 */
class SharedTokens implements ProviderTokens {
  readonly #options: ProviderTokenOptions
  readonly #cache = new Map<string, Token>()
  readonly #renewals = new Map<string, Promise<Token>>()
  readonly #failures = new Map<string, { error: Error; untilMs: number }>()
  #read = { atMs: Date.now(), steadyMs: steadyMs() }

  constructor(options: ProviderTokenOptions) {
    this.#options = options
  }

  async of(credential: Exchanged, refused?: string): Promise<string> {
    const name = nameOf(credential)
    const known = this.#cache.get(name)
    if (known && this.#isUsable(known)) {
      const due = !this.#isCurrent(known, credential, refused)
      if (known.token !== refused) {
        if (due) this.#renewed(name, credential, refused).catch(() => {}) // The old one is valid for a while.
        return known.token
      }
      if (!due) return known.token
    }
    const fresh = await this.#renewed(name, credential, refused)
    // A renewal that started for another reason may have returned the refused token.
    if (fresh.token !== refused || this.#isTooYoung(fresh, credential.gateway)) return fresh.token
    return (await this.#renewed(name, credential, refused)).token
  }

  #now(): number {
    const { clock } = this.#options
    return clock ? clock() : this.#read.atMs + steadyMs() - this.#read.steadyMs
  }

  /** A clock for pauses that never jumps: the clock of the database may be set. */
  #passing(): number {
    return (this.#options.clock ?? steadyMs)()
  }

  #isOfFuture({ issuedAtMs }: Token): boolean {
    return issuedAtMs > this.#now() + skewMs
  }

  #isTooYoung(token: Token, gateway: Exchanged['gateway']): boolean {
    return !this.#isOfFuture(token) && this.#now() - token.issuedAtMs < youngestMs[gateway]
  }

  #isUsable(token: Token): boolean {
    return !this.#isOfFuture(token) && this.#now() < token.expiresAtMs - marginMs
  }

  /** Whether no newer token is needed. */
  #isCurrent(token: Token, { gateway }: Exchanged, refused: string | undefined): boolean {
    if (this.#isOfFuture(token) || this.#now() >= token.refreshAtMs) return false
    return token.token !== refused || this.#isTooYoung(token, gateway)
  }

  /** Runs one renewal of a token at a time in this process, with a pause after a failure. */
  #renewed(name: string, credential: Exchanged, refused: string | undefined): Promise<Token> {
    const failed = this.#failures.get(name)
    if (failed && failed.untilMs > this.#passing()) return Promise.reject(failed.error)
    const running = this.#renewals.get(name)
    if (running !== undefined) return running
    const renewal = this.#renew(name, credential, refused)
      .then((token) => {
        this.#failures.delete(name)
        remember(this.#cache, name, token)
        return token
      })
      .catch((error: Error) => {
        const { gateway, projectId } = credential
        this.#options.log?.warn({ gateway, project: projectId, error: error.message }, 'no provider token could be had')
        remember(this.#failures, name, { error, untilMs: this.#passing() + pauseOf(error) })
        throw error
      })
      .finally(() => this.#renewals.delete(name))
    this.#renewals.set(name, renewal)
    return renewal
  }

  /** Takes the token that another process made, or makes it for all processes. */
  async #renew(name: string, credential: Exchanged, refused: string | undefined): Promise<Token> {
    const { pool } = this.#options
    const holder = randomUUID()
    const giveUpAt = performance.now() + patienceMs
    for (;;) {
      const found = this.#opened(name, await store.findToken(pool, name))
      if (found && this.#isCurrent(found, credential, refused)) return found
      const claimed = await store.claimToken(pool, name, holder, new Date(this.#now()))
      if (claimed) {
        const made = await this.#make(name, holder, credential, refused, this.#opened(name, claimed))
        if (made) return made
      }
      if (performance.now() > giveUpAt)
        throw new ProviderTokenFailed('unavailable', 'Another process is getting a token, and does not get it.')
      await sleep(pollMs)
    }
  }

  async #make(
    name: string,
    holder: string,
    credential: Exchanged,
    refused: string | undefined,
    before: Token | undefined
  ): Promise<Token | undefined> {
    const { pool, key } = this.#options
    try {
      // Another process may have finished between the check and the claim.
      if (before && this.#isCurrent(before, credential, refused)) {
        await store.releaseToken(pool, name, holder, 0)
        return before
      }
      const made = await this.#mint(credential)
      const written = await store.writeToken(pool, name, holder, {
        token: seal(key, store.contextOfToken(name), made.token),
        issued_at: new Date(made.issuedAtMs),
        refresh_at: new Date(made.refreshAtMs),
        expires_at: new Date(made.expiresAtMs)
      })
      if (!written) return undefined
      store.sweepTokens(pool, new Date(this.#now() - keptMs)).catch(() => {})
      return made
    } catch (error) {
      await store.releaseToken(pool, name, holder, pauseOf(error)).catch(() => {})
      throw error
    }
  }

  async #mint(credential: Exchanged): Promise<Token> {
    const issuedAtMs = this.#now()
    if (credential.gateway === 'apns') {
      const claims = { iss: credential.teamId, iat: Math.floor(issuedAtMs / 1000) }
      const token = signJwt('ES256', createPrivateKey(credential.privateKey), { kid: credential.keyId }, claims)
      return { token, issuedAtMs, refreshAtMs: issuedAtMs + apnsRefreshMs, expiresAtMs: issuedAtMs + apnsLifeMs }
    }
    const { exchange = requestAccessToken } = this.#options
    const { token, lifeMs } = await exchange(credential, issuedAtMs)
    return { token, issuedAtMs, refreshAtMs: issuedAtMs + lifeMs * 0.8, expiresAtMs: issuedAtMs + lifeMs }
  }

  #opened(name: string, row: store.TokenRead): Token | undefined {
    this.#read = { atMs: row.read_at.getTime(), steadyMs: steadyMs() }
    if (!row.token) return undefined
    try {
      return {
        token: open(this.#options.key, store.contextOfToken(name), row.token),
        issuedAtMs: row.issued_at!.getTime(),
        refreshAtMs: row.refresh_at!.getTime(),
        expiresAtMs: row.expires_at!.getTime()
      }
    } catch {
      return undefined // Sealed with another master key; a new token replaces it.
    }
  }
}

export const createProviderTokens = (options: ProviderTokenOptions): ProviderTokens => new SharedTokens(options)

const pauseOf = (error: unknown) => pauseMs[error instanceof ProviderTokenFailed ? error.kind : 'unavailable']

function remember<Value>(map: Map<string, Value>, name: string, value: Value): void {
  map.delete(name)
  if (map.size >= maxCached) map.delete(map.keys().next().value!)
  map.set(name, value)
}

const names = new WeakMap<Exchanged, string>()

/**
 * The name derives from the key itself: a project that only claims the team or the account of another gets another
 * name.
 */
function nameOf(credential: Exchanged): string {
  const known = names.get(credential)
  if (known) return known
  const parts =
    credential.gateway === 'apns'
      ? [credential.teamId, credential.keyId, credential.privateKey]
      : [credential.tokenUri, credential.clientEmail, credential.privateKeyId, credential.privateKey]
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  const name = `${credential.gateway}/${hash}`
  names.set(credential, name)
  return name
}
