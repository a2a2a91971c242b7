import { createPrivateKey } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { type FcmCredential, ProviderTokenFailed } from '../credentials/credential.ts'
import { signJwt } from '../credentials/jwt.ts'
import { googleTokenUri } from './credential.ts'

const grant = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const scope = 'https://www.googleapis.com/auth/firebase.messaging'
const usualLimitMs = 10_000
const longestAnswer = 64_000

export interface AccessToken {
  token: string
  lifeMs: number
}

/** RFC 7523: a signed assertion for an access token. */
export async function requestAccessToken(
  credential: FcmCredential,
  nowMs: number,
  limitMs = usualLimitMs
): Promise<AccessToken> {
  const { tokenUri, clientEmail, privateKeyId, privateKey, simulated, ca } = credential
  // An assertion must go to Google only, whatever the row says.
  if (!simulated && tokenUri !== googleTokenUri)
    throw new ProviderTokenFailed('refused', `Tokens come from ${googleTokenUri} only.`)
  const iat = Math.floor(nowMs / 1000)
  const claims = { iss: clientEmail, scope, aud: tokenUri, iat, exp: iat + 3_600 }
  const assertion = signJwt('RS256', createPrivateKey(privateKey), { typ: 'JWT', kid: privateKeyId }, claims)
  const form = new URLSearchParams({ grant_type: grant, assertion }).toString()
  const { status, text } = await post(tokenUri, form, ca, limitMs)
  const answer = parsed(text)
  if (status === 200 && typeof answer.access_token === 'string' && answer.access_token !== '') {
    const seconds = Number(answer.expires_in)
    return { token: answer.access_token, lifeMs: (seconds > 0 ? Math.min(seconds, 86_400) : 3_600) * 1000 }
  }
  const said = [answer.error, answer.error_description].filter((each) => typeof each === 'string').join(': ')
  const words = said.slice(0, 300) || `HTTP ${status}`
  if (status === 400 || status === 401 || status === 403)
    throw new ProviderTokenFailed('refused', `Google refuses the service account ${clientEmail} (${words}).`)
  throw new ProviderTokenFailed('unavailable', `The token endpoint of Google cannot answer now (${words}).`)
}

/** Follows no redirects: an assertion must not reach another host. */
function post(
  url: string,
  body: string,
  ca: string | undefined,
  limitMs: number
): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
  const fail = (error: Error) => {
    const slow = error.name === 'AbortError' || error.name === 'TimeoutError'
    const why = slow
      ? `no answer within ${limitMs / 1000} s`
      : error.message || String((error as { code?: string }).code)
    reject(
      new ProviderTokenFailed('unavailable', `The token endpoint ${new URL(url).host} cannot be reached: ${why}.`, {
        cause: error
      })
    )
  }
  let responded = false
  try {
    const outgoing = request(
      url,
      {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'content-length': Buffer.byteLength(body),
          accept: 'application/json'
        },
        signal: AbortSignal.timeout(limitMs),
        agent: false,
        ...(ca && { ca })
      },
      (response) => {
        responded = true
        read(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), fail)
      }
    )
    outgoing.on('error', fail)
    // Status 101 ends the request without an error.
    outgoing.on('close', () => {
      if (!responded) fail(new Error('the connection was closed'))
    })
    outgoing.end(body)
  } catch (error) {
    fail(error as Error)
  }
  return promise
}

async function read(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk
    if (text.length > longestAnswer) throw new Error('the answer is too long')
  }
  return text
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
