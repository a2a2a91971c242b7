export {
  type Credentials,
  createApnsCredentials,
  createCredentials,
  createServiceAccount,
  createVapidKeys,
  writeCredentials
} from './credentials.ts'
export { tokenFault } from './faults.ts'
export { createSimulators, type SimulatedGateways, type Simulators } from './fleet.ts'
export type { DevicesOf, InboxItem } from './inbox.ts'
export type { LedgerItem } from './ledger.ts'
export { overview, type Simulator, type SimulatorOptions, startSimulator } from './server/start.ts'
export { simulatedHost } from './webpush/crypto.ts'
