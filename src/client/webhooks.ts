import type { Trigger, WebhookEventType } from './schemas.ts'

interface Common<Type extends string> {
  /** The same if the call is repeated: remember it to do the work once. */
  id: string
  type: Type
  /** When it happened. */
  at: string
}

interface OfMessage {
  message_id: string
  trigger_id: string | null
  campaign_id: string | null
  device_id: string
  user_id: string | null
  project_user_id: string | null
}

/** One event of a call. Further fields, and further types of events, may appear. */
export type WebhookEvent =
  | (Common<'message.accepted' | 'message.delivered' | 'message.tapped'> & OfMessage)
  | (Common<'message.failed'> & OfMessage & { reason: string })
  | (Common<'trigger.completed'> & { trigger_id: string; campaign_id: string } & Pick<Trigger, 'state' | 'counts'>)
  | (Common<'user.opted_out'> & { user_id: string; project_user_id: string | null })
  | (Common<'campaign.converted'> & {
      campaign_id: string
      trigger_id: string
      message_id: string
      user_id: string
      project_user_id: string | null
      event: string
      value: number | null
    })
  | (Common<'approval.requested' | 'approval.decided'> & {
      approval_id: string
      task_id: string
      state: string
      url: string
    })
  | (Common<'webhook.test'> & { test: true })

/** Every type that a webhook can be registered for is described. */
type Undescribed = Exclude<WebhookEventType, WebhookEvent['type']>
const _all: Undescribed extends never ? true : Undescribed = true
void _all

export interface WebhookCall {
  type: 'events'
  timestamp: string
  project_id: string
  events: WebhookEvent[]
}

export interface SignedCall {
  /** Of the webhook; several while you change from one to another. */
  secret: string | readonly string[]
  /** Of the request: an object of names in lower case, as in Node, or Headers. */
  headers: Headers | Record<string, string | readonly string[] | undefined>
  /** The body as it arrived, not parsed. */
  body: string | Uint8Array
  /** How old, or how early, a call may be. Default: 300. */
  toleranceSeconds?: number
}

/** Why a call is not from your Tidings, or not recent. Respond 400 to it. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
}

/**
 * Checks the signature of a call (Standard Webhooks) and returns its content. Throws a WebhookError for any other request.
 */
export async function verifyWebhook({
  secret,
  headers,
  body,
  toleranceSeconds = 300
}: SignedCall): Promise<WebhookCall> {
  const read = (name: string): string => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name]
    if (typeof value !== 'string' || value === '') throw new WebhookError(`The header ${name} is missing.`)
    return value
  }
  const [id, timestamp, signatures] = [read('webhook-id'), read('webhook-timestamp'), read('webhook-signature')]
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds)
    throw new WebhookError('The call is too old or too new: check the clock of this machine.')
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`)
  const given = signatures.split(' ').flatMap((one) => (one.startsWith('v1,') ? [bytesOf(one.slice(3))] : []))
  for (const one of [secret].flat()) {
    const key = await importKey(one)
    for (const signature of given)
      if (signature && (await crypto.subtle.verify('HMAC', key, signature, signed)))
        return JSON.parse(text) as WebhookCall
  }
  throw new WebhookError('The signature is wrong: check the secret, and pass the body as it arrived, not parsed.')
}

async function importKey(secret: string) {
  const bytes = bytesOf(secret.replace(/^whsec_/, ''))
  if (!bytes || bytes.length === 0) throw new WebhookError('The secret is not one: it looks like whsec_ and base64.')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
  } catch {
    return undefined
  }
}
