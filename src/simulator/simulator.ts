export {
  type Credentials,
  createApnsCredentials,
  createCredentials,
  createServiceAccount,
  createVapidKeys,
  writeCredentials
} from './credentials.ts'
export { tokenFault } from './faults/faults.ts'
export { createSimulators, type SimulatedGateways, type Simulators, simulatedTopic } from './fleet/fleet.ts'
export type { DevicesOf, InboxItem } from './fleet/inbox.ts'
export type { LedgerItem } from './server/ledger.ts'
export { overview, type Simulator, type SimulatorOptions, startSimulator } from './server/start.ts'
export { simulatedHost } from './webpush/crypto.ts'
