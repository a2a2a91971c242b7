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

interface Held {
  token: string
  issuedAtMs: number
  refreshAtMs: number
  expiresAtMs: number
}

const minuteMs = 60_000
/** Apple: a token is good for an hour, and no more than one may be made in 20 minutes. */
const apnsLifeMs = 60 * minuteMs
const apnsRefreshMs = 50 * minuteMs
/** A token younger than this is not replaced, even if the gateway calls it expired: it would help nobody. */
const youngestMs = { apns: 20 * minuteMs, fcm: minuteMs }
/** Not presented in its last moments: it might end on the way. */
const marginMs = 30_000
/** After a failure nobody asks again for so long, in this process or in any other. */
const pauseMs = { refused: 5_000, unavailable: 2_000 }
const patienceMs = 15_000
const pollMs = 100
const maxCached = 10_000
const keptMs = 24 * 60 * minuteMs
/** Issued later than this from now, a token is one of a wrong clock. Nodes of older versions had clocks of their own. */
const skewMs = minuteMs

export interface ProviderTokenOptions {
  pool: Pool
  key: Buffer
  log?: Log
  /** Instead of the clock of the database; for tests. */
  clock?: () => number
  /** How an FCM credential is exchanged; for tests. */
  exchange?: (credential: FcmCredential, nowMs: number) => Promise<AccessToken>
}

/**
 * One token for each key, made by one process at a time and shared through the database. A copy in memory answers; when
 * it is due for renewal it still answers, while the next one is being made.
 *
 * Times are those of the database's clock, read with every row and counted on by a clock that never jumps. So the clock of
 * this machine has no part in it, all nodes agree, and a token that looks too old is compared with the database's clock once
 * more before it is replaced. A token of the future is not current: one refresh, and all is well again.
 */
export function createProviderTokens({
  pool,
  key,
  log,
  clock,
  exchange = requestAccessToken
}: ProviderTokenOptions): ProviderTokens {
  const cache = new Map<string, Held>()
  const renewals = new Map<string, Promise<Held>>()
  const failures = new Map<string, { error: Error; untilMs: number }>()

  let read = { atMs: Date.now(), steadyMs: steadyMs() }
  const now = clock ?? (() => read.atMs + steadyMs() - read.steadyMs)
  /** For pauses: the clock of the database may be set too. */
  const passing = clock ?? steadyMs
  const heard = (readAt: Date) => {
    read = { atMs: readAt.getTime(), steadyMs: steadyMs() }
  }

  const isOfFuture = (held: Held) => held.issuedAtMs > now() + skewMs
  const tooYoung = (held: Held, gateway: Exchanged['gateway']) =>
    !isOfFuture(held) && now() - held.issuedAtMs < youngestMs[gateway]
  const usable = (held: Held) => !isOfFuture(held) && now() < held.expiresAtMs - marginMs
  /** Whether nothing newer has to be made. */
  const current = (held: Held, credential: Exchanged, refused: string | undefined) =>
    !isOfFuture(held) && now() < held.refreshAtMs && (held.token !== refused || tooYoung(held, credential.gateway))

  async function mint(credential: Exchanged): Promise<Held> {
    const issuedAtMs = now()
    if (credential.gateway === 'apns') {
      const claims = { iss: credential.teamId, iat: Math.floor(issuedAtMs / 1000) }
      const token = signJwt('ES256', createPrivateKey(credential.privateKey), { kid: credential.keyId }, claims)
      return { token, issuedAtMs, refreshAtMs: issuedAtMs + apnsRefreshMs, expiresAtMs: issuedAtMs + apnsLifeMs }
    }
    const { token, lifeMs } = await exchange(credential, issuedAtMs)
    return { token, issuedAtMs, refreshAtMs: issuedAtMs + lifeMs * 0.8, expiresAtMs: issuedAtMs + lifeMs }
  }

  function opened(name: string, row: store.TokenRead): Held | undefined {
    heard(row.read_at)
    if (!row.token) return undefined
    try {
      return {
        token: open(key, store.contextOfToken(name), row.token),
        issuedAtMs: row.issued_at!.getTime(),
        refreshAtMs: row.refresh_at!.getTime(),
        expiresAtMs: row.expires_at!.getTime()
      }
    } catch {
      return undefined // Sealed with another master key. A new one does no harm.
    }
  }

  /** Takes what another process made, or makes it for all. */
  async function renew(name: string, credential: Exchanged, refused: string | undefined): Promise<Held> {
    const holder = randomUUID()
    const giveUpAt = performance.now() + patienceMs
    for (;;) {
      const found = opened(name, await store.findToken(pool, name))
      if (found && current(found, credential, refused)) return found
      const claimed = await store.claimToken(pool, name, holder, new Date(now()))
      if (claimed) {
        const made = await make(name, holder, credential, refused, opened(name, claimed))
        if (made) return made
      }
      if (performance.now() > giveUpAt)
        throw new ProviderTokenFailed('unavailable', 'Another process is getting a token, and does not get it.')
      await sleep(pollMs)
    }
  }

  async function make(
    name: string,
    holder: string,
    credential: Exchanged,
    refused: string | undefined,
    before: Held | undefined
  ): Promise<Held | undefined> {
    try {
      // Somebody may have finished between our look and our claim.
      if (before && current(before, credential, refused)) {
        await store.releaseToken(pool, name, holder, 0)
        return before
      }
      const held = await mint(credential)
      const written = await store.writeToken(pool, name, holder, {
        token: seal(key, store.contextOfToken(name), held.token),
        issued_at: new Date(held.issuedAtMs),
        refresh_at: new Date(held.refreshAtMs),
        expires_at: new Date(held.expiresAtMs)
      })
      if (!written) return undefined
      store.sweepTokens(pool, new Date(now() - keptMs)).catch(() => {})
      return held
    } catch (error) {
      await store.releaseToken(pool, name, holder, pauseOf(error)).catch(() => {})
      throw error
    }
  }

  /** One renewal of a token at a time in this process, and a pause after one that failed. */
  function renewed(name: string, credential: Exchanged, refused: string | undefined): Promise<Held> {
    const failed = failures.get(name)
    if (failed && failed.untilMs > passing()) return Promise.reject(failed.error)
    const running = renewals.get(name)
    if (running !== undefined) return running
    const renewal = renew(name, credential, refused)
      .then((held) => {
        failures.delete(name)
        remember(cache, name, held)
        return held
      })
      .catch((error: Error) => {
        const { gateway, projectId } = credential
        log?.warn({ gateway, project: projectId, error: error.message }, 'no provider token could be had')
        remember(failures, name, { error, untilMs: passing() + pauseOf(error) })
        throw error
      })
      .finally(() => renewals.delete(name))
    renewals.set(name, renewal)
    return renewal
  }

  return {
    async of(credential, refused) {
      const name = nameOf(credential)
      const held = cache.get(name)
      if (held && usable(held)) {
        const due = !current(held, credential, refused)
        if (held.token !== refused) {
          if (due) renewed(name, credential, refused).catch(() => {}) // The old one is good for a while yet.
          return held.token
        }
        if (!due) return held.token
      }
      const fresh = await renewed(name, credential, refused)
      // A renewal that was under way for another reason may have found the refused one to be good.
      if (fresh.token !== refused || tooYoung(fresh, credential.gateway)) return fresh.token
      return (await renewed(name, credential, refused)).token
    }
  }
}

const pauseOf = (error: unknown) => pauseMs[error instanceof ProviderTokenFailed ? error.kind : 'unavailable']

function remember<Value>(map: Map<string, Value>, name: string, value: Value): void {
  map.delete(name)
  if (map.size >= maxCached) map.delete(map.keys().next().value!)
  map.set(name, value)
}

const names = new WeakMap<Exchanged, string>()

/** Of the key itself: who only claims to be the team, or the account, has another name. */
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
