import { createECDH } from 'node:crypto'
import { newId } from '../../platform/ids.ts'
import type { Credential, ProviderTokens, WebPushCredential } from '../credential.ts'
import type { Prepared, Verdict } from '../gateways/gateway.ts'
import { gateways } from '../gateways/gateways.ts'
import type { Push } from '../push.ts'
import type { Ending, H2Transport } from '../transport/transport.ts'
import type { SenderSettings } from './settings.ts'

export interface CheckResult {
  ok: boolean
  /** For people: what the gateway thinks of the credential. */
  message: string
}

interface Around {
  transport: H2Transport
  providerTokens: ProviderTokens
  settings: SenderSettings
}

/**
 * A real request that no device can get: to a token that cannot be one, or to be validated only. How the gateway
 * refuses it tells whether it knows the credential.
 */
export async function checkCredential(credential: Credential, around: Around): Promise<CheckResult> {
  const { transport, providerTokens, settings } = around
  if (credential.gateway === 'webpush') return checkVapidKeys(credential)
  const gateway = gateways[credential.gateway]
  const name = credential.gateway === 'apns' ? 'APNs' : 'Firebase'
  try {
    const token = await providerTokens.of(credential)
    const push = impossible(credential)
    const prepared = gateway.prepare(push, credential, token, Date.now())
    if ('kind' in prepared) return { ok: false, message: prepared.message }
    if (credential.gateway === 'fcm') prepared.body = validateOnly
    const ending = await ask(transport, credential, prepared, settings)
    if (ending.kind !== 'answer') return { ok: false, message: `${name} did not answer at ${credential.origin}.` }
    return judge(name, gateway.read(push, ending.status, ending.headers, ending.body))
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { ok: false, message: `${name} could not be asked at ${credential.origin}: ${message}.` }
  }
}

function judge(name: string, verdict: Verdict): CheckResult {
  if (verdict.kind === 'accepted') return { ok: true, message: `${name} accepts the credential.` }
  if (verdict.kind === 'renew')
    return { ok: false, message: `${name} calls a new token expired (${verdict.gatewayCode}): is the clock right?` }
  if (verdict.kind === 'reconnect') return judge(name, verdict.otherwise)
  const code = verdict.gatewayCode && ` (${verdict.gatewayCode})`
  // It looked at the token, so it has looked past the credential.
  if (verdict.reason.startsWith('TOKEN_')) return { ok: true, message: `${name} accepts the credential.` }
  return { ok: false, message: `${name}: ${verdict.message}${code}` }
}

async function ask(
  transport: H2Transport,
  { origin, ca }: Credential,
  { headers, body }: Prepared,
  { connectTimeoutMs, deadlineMs }: SenderSettings
): Promise<Ending> {
  const nothing = () => {}
  const events = { onDraining: nothing, onClosed: nothing, onLimit: nothing }
  const connection = await transport.open(origin, ca ? { ca } : {}, events, connectTimeoutMs)
  try {
    return await new Promise<Ending>((resolve) => {
      connection.request(headers, body, Date.now() + deadlineMs, resolve)
    })
  } finally {
    connection.close('checked')
  }
}

/** Firebase looks at everything and sends nothing. */
const validateOnly = Buffer.from(
  JSON.stringify({ validate_only: true, message: { topic: 'tidings-check', notification: { title: 'Check' } } })
)

/** One digit is no token anywhere. */
const impossible = (credential: Credential): Push => ({
  projectId: credential.projectId,
  messageId: newId(),
  pushId: newId(),
  deviceId: '',
  gateway: credential.gateway,
  environment: credential.gateway === 'apns' ? credential.environment : 'production',
  app: null,
  token: '0',
  registeredAt: new Date(),
  content: { kind: 'alert', notification: { title: 'Check' } },
  collapseId: '',
  priority: 'normal',
  notAfter: Date.now() + 60_000
})

/** There is nobody to ask before a browser has subscribed: only whether the keys belong together. */
function checkVapidKeys(credential: WebPushCredential): CheckResult {
  if (!/^(mailto:|https:\/\/)/.test(credential.subject))
    return { ok: false, message: 'The subject must begin with mailto: or https://.' }
  const pair = createECDH('prime256v1')
  try {
    pair.setPrivateKey(Buffer.from(credential.privateKey, 'base64url'))
  } catch {
    return { ok: false, message: 'The private key is not one of P-256 in base64url.' }
  }
  return pair.getPublicKey('base64url') === credential.publicKey.replace(/=+$/, '')
    ? { ok: true, message: 'The keys belong together. Push services are asked when a browser has subscribed.' }
    : { ok: false, message: 'The public key does not belong to the private key.' }
}
