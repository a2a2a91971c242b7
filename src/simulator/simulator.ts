export {
  type ApnsCredentials,
  type Credentials,
  createApnsCredentials,
  createCredentials,
  createServiceAccount,
  createVapidKeys,
  type ServiceAccount,
  type VapidKeys,
  writeCredentials
} from './credentials.ts'
export { changeFaults, showFaults } from './fault-settings.ts'
export { type Faults, type GatewayFaults, tokenFault } from './faults.ts'
export { createSimulators, type SimulatedGateways, type Simulators } from './fleet.ts'
export type { DevicesOf, InboxItem } from './inbox.ts'
export type { GatewayName, Ledger, LedgerItem } from './ledger.ts'
export { type Address, overview, type Simulator, type SimulatorOptions, startSimulator } from './start.ts'
export { type Subscription, simulatedHost } from './webpush-crypto.ts'
