import type { Saved } from '../credentials/credential.ts'
import { createFaults } from '../credentials/faults.ts'
import { fingerprintOf, readPrivateKey, toPem } from '../credentials/pem.ts'
import type { PushEnvironment } from '../push.ts'

const tenCharacters = /^[A-Z0-9]{10}$/
/** Suffixes of a bundle id for some kinds of push; the service adds them itself. */
const suffix = /\.(voip|complication|pushkit\.fileprovider|location-query|voip-ptt|push-type\.\w+)$/

export interface ApnsSecret {
  keyId: string
  teamId: string
  privateKey: string
}

/** A .p8 key of Apple with its ids, as one entry for each environment that it is valid for. */
export function parseApns(body: Record<string, unknown>): Saved<ApnsSecret>[] {
  const faults = createFaults()
  const key = readPrivateKey(body.key, 'key', 'ES256', 'the text of the file AuthKey_….p8 from Apple', faults)
  const keyId = faults.text(
    body.key_id,
    'key_id',
    tenCharacters,
    'must be the 10 letters and digits in the name of the file AuthKey_….p8'
  )
  const teamId = faults.text(
    body.team_id,
    'team_id',
    tenCharacters,
    'must be the 10 letters and digits of the team, as the membership page of the Apple developer account shows them'
  )
  const topic = faults.text(
    body.topic,
    'topic',
    /^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/,
    'must be the bundle id of the app, for example com.example.app'
  )
  if (topic && topic.length > 155) faults.add('topic', 'must be at most 155 characters')
  if (topic && suffix.test(topic)) faults.add('topic', `must be the bundle id alone, without ${suffix.exec(topic)![0]}`)
  if (topic && teamId && topic.startsWith(`${teamId}.`))
    faults.add('topic', 'must be the bundle id alone, without the team id before it')
  const { environment = 'both' } = body
  if (environment !== 'production' && environment !== 'sandbox' && environment !== 'both')
    faults.add('environment', 'must be production, sandbox or both')
  faults.refuse()

  const environments = (environment === 'both' ? ['production', 'sandbox'] : [environment]) as PushEnvironment[]
  const fingerprint = fingerprintOf(key!)
  return environments.map((each) => ({
    environment: each,
    app: topic!,
    secret: { keyId: keyId!, teamId: teamId!, privateKey: toPem(key!) },
    facts: { key_id: keyId!, team_id: teamId!, fingerprint }
  }))
}
