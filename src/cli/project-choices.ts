import type { Command } from 'commander'
import { choice, wholeNumber } from './session.ts'

/** What `project create` and `project update` can both say. */
export interface ProjectChoices {
  mode?: string
  plan?: string
  requestsPerSecond?: number
  clientRequestsPerSecond?: number
  triggersPerSecond?: number
  eventsDays?: number
  messagesDays?: number
}

const perSecond = wholeNumber(0, 1_000_000)
const days = wholeNumber(1, 36_500)

export const projectChoices = (command: Command): Command =>
  command
    .addOption(choice('--mode <mode>', 'simulator sends to simulated phones, live to real ones', ['simulator', 'live']))
    .option('--plan <plan>', 'One of the plans of the setting PLANS')
    .option('--requests-per-second <count>', 'Limit for secret keys; 0 is none', perSecond)
    .option('--client-requests-per-second <count>', 'Limit for public keys; 0 is none', perSecond)
    .option('--triggers-per-second <count>', 'Limit for campaign triggers; 0 is none', perSecond)
    .option('--events-days <days>', 'How long events are kept', days)
    .option('--messages-days <days>', 'How long messages are kept', days)

/** The same in the words of the API, with nothing in it that was not said. */
export function wishOf(choices: ProjectChoices) {
  const limits = given({
    requests_per_second: choices.requestsPerSecond,
    client_requests_per_second: choices.clientRequestsPerSecond,
    triggers_per_second: choices.triggersPerSecond
  })
  const retention = given({ events_days: choices.eventsDays, messages_days: choices.messagesDays })
  return given({ mode: choices.mode, plan: choices.plan, limits, retention }) ?? {}
}

function given<Fields extends object>(fields: Fields): Partial<Fields> | undefined {
  const said = Object.entries(fields).filter(([, value]) => value !== undefined)
  return said.length > 0 ? (Object.fromEntries(said) as Partial<Fields>) : undefined
}
