import { createHash } from 'node:crypto'
import type { ProjectId } from '../../platform/ids.ts'
import type { Credential } from '../credential.ts'
import type { GatewayName, PushEnvironment } from '../push.ts'

/** The stand-ins of a project in simulator mode, with the credentials they accept. */
export interface SimulatedGateways {
  /** PEM of the authority to trust. */
  ca: string
  apns: { origin: string; keyId: string; teamId: string; privateKey: string; topic: string }
  fcm: {
    origin: string
    tokenUri: string
    firebaseProject: string
    clientEmail: string
    privateKeyId: string
    privateKey: string
  }
  webpush: { subject: string; publicKey: string; privateKey: string }
}

export type Simulated = (projectId: ProjectId) => Promise<SimulatedGateways | null>

/** The same object for the same stand-ins: senders recognise what they have by it. */
const made = new WeakMap<SimulatedGateways, Map<string, Credential>>()

export function simulatedCredential(
  projectId: ProjectId,
  simulated: SimulatedGateways,
  gateway: GatewayName,
  environment: PushEnvironment
): Credential {
  const name = `${gateway}/${gateway === 'apns' ? environment : ''}`
  const known = made.get(simulated) ?? new Map<string, Credential>()
  made.set(simulated, known)
  const credential = known.get(name) ?? make(projectId, simulated, gateway, environment)
  known.set(name, credential)
  return credential
}

function make(
  projectId: ProjectId,
  simulated: SimulatedGateways,
  gateway: GatewayName,
  environment: PushEnvironment
): Credential {
  // A simulator that starts again may have other ports and keys: then it is another version.
  const digest = createHash('sha256')
    .update(JSON.stringify([simulated[gateway], simulated.ca]))
    .digest()
  const common = {
    id: `simulated/${projectId}/${gateway}/${gateway === 'apns' ? environment : ''}`,
    version: digest.readUIntBE(0, 6),
    projectId,
    simulated: true,
    ca: simulated.ca
  }
  if (gateway === 'apns') return { ...common, gateway, environment, ...simulated.apns }
  if (gateway === 'fcm') return { ...common, gateway, ...simulated.fcm }
  return { ...common, gateway, origin: '', ...simulated.webpush }
}
