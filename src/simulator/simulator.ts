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
export type { DevicesOf, Following, PhonesChanged } from './fleet/inbox.ts'
export type { InboxItem } from './fleet/inbox-item.ts'
export { activityToken } from './phones/activity.ts'
export type { Reports } from './phones/arrivals.ts'
export type { Phones } from './phones/phones.ts'
export type { Phone } from './phones/screen.ts'
export type { LedgerItem } from './server/ledger.ts'
export { overview, type Simulator, type SimulatorOptions, startSimulator } from './server/start.ts'
export { simulatedHost } from './webpush/crypto.ts'
