import type { ProjectId } from '../../platform/ids.ts'
import type { SimulatedGateways } from '../../simulator/simulator.ts'
import type { GatewayName, PushEnvironment } from '../push.ts'
import type { Credential } from './credential.ts'

export type Simulated = (projectId: ProjectId) => Promise<SimulatedGateways | null>

/** The objects made so far, one per simulator and name, because the sender compares credentials by identity. */
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
  const common = {
    id: `simulated/${projectId}/${gateway}/${gateway === 'apns' ? environment : ''}`,
    version: simulated.version,
    projectId,
    simulated: true,
    ca: simulated.ca
  }
  if (gateway === 'apns') {
    const { sandbox, ...production } = simulated.apns
    return { ...common, gateway, environment, ...production, ...(environment === 'sandbox' && sandbox) }
  }
  if (gateway === 'fcm') return { ...common, gateway, ...simulated.fcm }
  return { ...common, gateway, ...simulated.webpush }
}
