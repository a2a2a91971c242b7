import { createPublicKey, randomBytes } from 'node:crypto'
import type { ServiceAccount } from './credentials.ts'
import type { Answer, Incoming } from './gateway.ts'
import { isSignedBy, readJwt } from './jwt.ts'

export interface AccessTokens {
  /** RFC 7523: a signed assertion for an access token. */
  issue(incoming: Incoming): Answer
  /** Whose token this is, while it lasts. */
  ownerOf(token: string): ServiceAccount | undefined
}

const grant = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const scopes = ['https://www.googleapis.com/auth/firebase.messaging', 'https://www.googleapis.com/auth/cloud-platform']
/** Libraries that cannot be pointed elsewhere sign for the real address whatever they talk to. */
const realAudience = 'https://oauth2.googleapis.com/token'
const clockSeconds = 60
const mostTokens = 10_000

export function createAccessTokens(accounts: readonly ServiceAccount[], lifeSeconds: number): AccessTokens {
  const issued = new Map<string, { account: ServiceAccount; endsAtMs: number }>()

  function judge(incoming: Incoming): { account: ServiceAccount } | { error: string; detail: string } {
    const form = new URLSearchParams(incoming.body.toString())
    if (form.get('grant_type') !== grant) return { error: 'unsupported_grant_type', detail: `grant_type is ${grant}.` }
    const jwt = readJwt(form.get('assertion') ?? '')
    if (!jwt) return wrong('assertion is no JWT.')
    const { iss, aud, scope, iat, exp } = jwt.claims
    const account = accounts.find(({ client_email }) => client_email === iss)
    if (!account) return wrong('Invalid grant: account not found')
    if (jwt.header.kid !== undefined && jwt.header.kid !== account.private_key_id)
      return wrong('kid is of another key.')
    if (!isSignedBy(jwt, 'RS256', createPublicKey(account.private_key))) return wrong('Invalid JWT Signature.')
    if (aud !== `${incoming.origin}/token` && aud !== account.token_uri && aud !== realAudience)
      return wrong(`aud must be ${incoming.origin}/token.`)
    const now = Date.now() / 1000
    if (typeof iat !== 'number' || typeof exp !== 'number') return wrong('iat and exp are numbers.')
    if (exp <= now) return wrong('Invalid JWT: the token is expired.')
    if (iat > now + clockSeconds || exp > iat + 3_600) return wrong('Token must be a short-lived token (60 minutes).')
    if (
      !String(scope ?? '')
        .split(' ')
        .some((one) => scopes.includes(one))
    )
      return { error: 'invalid_scope', detail: `scope must hold ${scopes[0]}.` }
    return { account }
  }

  return {
    issue(incoming) {
      if (incoming.method !== 'POST')
        return { status: 405, headers: { allow: 'POST' }, reason: null, gatewayMessageId: null }
      const verdict = judge(incoming)
      if ('error' in verdict) {
        const { error, detail } = verdict
        return {
          status: 400,
          body: JSON.stringify({ error, error_description: detail }),
          reason: error,
          detail,
          gatewayMessageId: null
        }
      }
      if (issued.size >= mostTokens) issued.clear()
      const token = `ya29.sim-${randomBytes(32).toString('base64url')}`
      issued.set(token, { account: verdict.account, endsAtMs: Date.now() + lifeSeconds * 1000 })
      return {
        status: 200,
        headers: { 'cache-control': 'no-store' },
        body: JSON.stringify({ access_token: token, expires_in: lifeSeconds, token_type: 'Bearer' }),
        reason: null,
        gatewayMessageId: null
      }
    },
    ownerOf(token) {
      const found = issued.get(token)
      if (!found) return undefined
      if (found.endsAtMs > Date.now()) return found.account
      issued.delete(token)
      return undefined
    }
  }
}

const wrong = (detail: string) => ({ error: 'invalid_grant', detail })
