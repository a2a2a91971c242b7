import { createHmac, createPublicKey, randomBytes, timingSafeEqual } from 'node:crypto'
import type { ServiceAccount } from '../credentials.ts'
import { isSignedBy, readJwt } from '../jwt.ts'
import type { Answer, Incoming } from '../server/gateway.ts'

export interface AccessTokens {
  /** RFC 7523: exchanges a signed assertion for an access token. */
  issue(incoming: Incoming): Answer
  /** The owner of a valid token. */
  ownerOf(token: string): ServiceAccount | undefined
}

const grant = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const scopes = ['https://www.googleapis.com/auth/firebase.messaging', 'https://www.googleapis.com/auth/cloud-platform']
/** Libraries with a fixed address sign for the real one, also when they talk to a simulator. */
const realAudience = 'https://oauth2.googleapis.com/token'
const clockSeconds = 60

/** A token contains its owner and its end, signed with the secret: simulators with the same secret accept it. */
export function createAccessTokens(
  accounts: readonly ServiceAccount[],
  lifeSeconds: number,
  secret: string
): AccessTokens {
  const signature = (text: string) => createHmac('sha256', secret).update(`access token ${text}`).digest('base64url')

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
      const owner = [
        verdict.account.client_email,
        Date.now() + lifeSeconds * 1000,
        randomBytes(9).toString('base64url')
      ]
      const text = Buffer.from(JSON.stringify(owner)).toString('base64url')
      const token = `ya29.sim-${text}.${signature(text)}`
      return {
        status: 200,
        headers: { 'cache-control': 'no-store' },
        body: JSON.stringify({ access_token: token, expires_in: lifeSeconds, token_type: 'Bearer' }),
        reason: null,
        gatewayMessageId: null
      }
    },
    ownerOf(token) {
      const [, text = '', proof = ''] = /^ya29\.sim-([\w-]+)\.([\w-]+)$/.exec(token) ?? []
      const [given, wanted] = [Buffer.from(proof), Buffer.from(signature(text))]
      if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined
      const [email, endsAtMs] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [string, number]
      return endsAtMs > Date.now() ? accounts.find(({ client_email }) => client_email === email) : undefined
    }
  }
}

const wrong = (detail: string) => ({ error: 'invalid_grant', detail })
