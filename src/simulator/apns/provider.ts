import { createPublicKey, type KeyObject } from 'node:crypto'
import { isSignedBy, readJwt, rememberVerdicts } from '../jwt.ts'
import type { Incoming } from '../server/gateway.ts'
import type { ApnsRefusal } from './reasons.ts'

export type ApnsEnvironment = 'production' | 'sandbox'

export interface ProviderKey {
  keyId: string
  teamId: string
  /** PEM. */
  publicKey: string
  /** Where it is valid; in both environments by default. */
  environment?: ApnsEnvironment
}

interface Provider {
  text: string
  keyId: string
  team: string
  issuedAt: number
  environment: ApnsEnvironment | undefined
}

const oldestSeconds = 3_600
/** Tolerance for clocks that differ. */
const futureSeconds = 60
/** Apple's limit for refreshing a token. */
const updateMs = 20 * 60_000

const invalid = (detail: string): ApnsRefusal => ({ reason: 'InvalidProviderToken', detail })

/** Checks the bearer token of a request: its signature, and whether this connection may use it. */
export function createProviderCheck(
  keys: readonly ProviderKey[],
  environment: ApnsEnvironment
): (incoming: Incoming) => ApnsRefusal | undefined {
  const publicKeys = new Map<string, KeyObject>()
  const keyOf = (key: ProviderKey) => {
    const known = publicKeys.get(key.publicKey) ?? createPublicKey(key.publicKey)
    publicKeys.set(key.publicKey, known)
    return known
  }

  const read = rememberVerdicts((text: string): Provider | ApnsRefusal => {
    const jwt = readJwt(text)
    if (!jwt) return invalid('The token is not a JWT.')
    const { kid, alg } = jwt.header
    const { iss, iat } = jwt.claims
    if (alg !== 'ES256') return invalid('alg must be ES256.')
    if (typeof kid !== 'string') return invalid('kid is missing from the header.')
    if (typeof iss !== 'string') return invalid('iss, the team id, is missing.')
    if (typeof iat !== 'number') return invalid('iat is missing, or no number.')
    const key = keys.find((candidate) => candidate.keyId === kid && candidate.teamId === iss)
    if (!key) return invalid('No key has this kid and this team.')
    if (!isSignedBy(jwt, 'ES256', keyOf(key))) return invalid('The signature is not that of the key.')
    return { text, keyId: kid, team: iss, issuedAt: iat, environment: key.environment }
  })

  return ({ headers, connection }) => {
    const [, text] = /^bearer (\S+)$/i.exec(headers.authorization ?? '') ?? []
    if (!text) return { reason: 'MissingProviderToken' }
    const provider = read(text)
    if ('reason' in provider) return provider
    const age = Date.now() / 1000 - provider.issuedAt
    if (age > oldestSeconds) return { reason: 'ExpiredProviderToken', detail: 'iat is more than an hour ago.' }
    if (age < -futureSeconds) return invalid('iat is in the future.')
    if (provider.environment !== undefined && provider.environment !== environment)
      return { reason: 'BadEnvironmentKeyIdInToken', detail: `The key is for ${provider.environment}.` }
    const before = connection.provider
    const now = Date.now()
    if (before && before.text !== text) {
      if (before.team !== provider.team) return invalid('This connection belongs to another team.')
      if (before.keyId !== provider.keyId) return { reason: 'UnrelatedKeyIdInToken' }
      if (now - before.sinceMs < updateMs) return { reason: 'TooManyProviderTokenUpdates' }
    }
    if (before?.text !== text) connection.provider = { text, team: provider.team, keyId: provider.keyId, sinceMs: now }
    return undefined
  }
}
