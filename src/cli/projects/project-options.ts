import type { Command } from 'commander'
import { choice, wholeNumber } from '../session.ts'

type OrDefault = number | 'default'

/** The options that `project create` and `project update` share. */
export interface ProjectOptions {
  mode?: string
  plan?: string
  requestsPerSecond?: OrDefault
  clientRequestsPerSecond?: OrDefault
  triggersPerSecond?: OrDefault
  eventsDays?: OrDefault
  messagesDays?: OrDefault
}

const orDefault =
  (read: (text: string) => number) =>
  (text: string): OrDefault =>
    text === 'default' ? text : read(text)
const perSecond = orDefault(wholeNumber(0, 1_000_000))
const days = orDefault(wholeNumber(1, 36_500))
const limit = (what: string, usual: string) => `Limit for ${what}; 0: no limit, default: ${usual}`

export const projectOptions = (command: Command): Command =>
  command
    .addOption(choice('--mode <mode>', 'simulator sends to simulated phones, live to real ones', ['simulator', 'live']))
    .option('--plan <plan>', 'One of the plans of the setting PLANS')
    .option('--requests-per-second <count>', limit('secret keys', '1,000'), perSecond)
    .option('--client-requests-per-second <count>', limit('public keys', '5,000'), perSecond)
    .option('--triggers-per-second <count>', limit('campaign triggers', 'as the plan says'), perSecond)
    .option('--events-days <days>', 'How long events are kept, or default', days)
    .option('--messages-days <days>', 'How long messages are kept, or default', days)

/** The options in the names of the API, without those that were left out. */
export function changesOf(options: ProjectOptions) {
  const limits = given({
    requests_per_second: numberOf(options.requestsPerSecond),
    client_requests_per_second: numberOf(options.clientRequestsPerSecond),
    triggers_per_second: numberOf(options.triggersPerSecond)
  })
  const retention = given({ events_days: numberOf(options.eventsDays), messages_days: numberOf(options.messagesDays) })
  return given({ mode: options.mode, plan: options.plan, limits, retention }) ?? {}
}

/** The API takes null for the default. */
const numberOf = (option: OrDefault | undefined) => (option === 'default' ? null : option)

function given<Fields extends object>(fields: Fields): Partial<Fields> | undefined {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined)
  return present.length > 0 ? (Object.fromEntries(present) as Partial<Fields>) : undefined
}
