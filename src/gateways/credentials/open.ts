import type { ProjectId } from '../../platform/ids.ts'
import { open } from '../../platform/secrets/secrets.ts'
import type { ApnsSecret } from '../apns/credential.ts'
import { type FcmSecret, googleTokenUri } from '../fcm/credential.ts'
import type { WebPushSecret } from '../webpush/credential.ts'
import type { Credential } from './credential.ts'
import { type CredentialRow, contextOf } from './store.ts'

const apnsOrigins = { production: 'https://api.push.apple.com', sandbox: 'https://api.sandbox.push.apple.com' }
const channelsOrigins = {
  production: 'https://api-manage-broadcast.push.apple.com:2196',
  sandbox: 'https://api-manage-broadcast.sandbox.push.apple.com:2195'
}
const fcmOrigin = 'https://fcm.googleapis.com'

/** Opens a stored credential for the sender. Throws if it was sealed with another master key. */
export function openCredential(key: Buffer, projectId: ProjectId, row: CredentialRow): Credential {
  const secret: unknown = JSON.parse(openSecret(key, projectId, row))
  const common = { id: row.id, version: row.version, projectId, simulated: false }
  if (row.gateway === 'apns') {
    const { keyId, teamId, privateKey } = secret as ApnsSecret
    const environment = row.environment === 'sandbox' ? 'sandbox' : 'production'
    const hosts = { origin: apnsOrigins[environment], channelsOrigin: channelsOrigins[environment] }
    return { ...common, gateway: 'apns', ...hosts, environment, keyId, teamId, privateKey, topic: row.app }
  }
  if (row.gateway === 'fcm')
    return { ...common, gateway: 'fcm', origin: fcmOrigin, tokenUri: googleTokenUri, ...(secret as FcmSecret) }
  return { ...common, gateway: 'webpush', origin: '', ...(secret as WebPushSecret) }
}

export function openSecret(key: Buffer, projectId: ProjectId, row: CredentialRow): string {
  try {
    return open(key, contextOf(projectId, row), row.secret)
  } catch (error) {
    throw new Error(`the credential ${row.id} does not open: the master key is another one than it was sealed with`, {
      cause: error
    })
  }
}
