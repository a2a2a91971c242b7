import type { Command } from 'commander'
import { choice, wholeNumber } from '../session.ts'

type Choice = number | 'default'

/** What `project create` and `project update` can both say. */
export interface ProjectChoices {
  mode?: string
  plan?: string
  requestsPerSecond?: Choice
  clientRequestsPerSecond?: Choice
  triggersPerSecond?: Choice
  eventsDays?: Choice
  messagesDays?: Choice
}

const orDefault =
  (read: (text: string) => number) =>
  (text: string): Choice =>
    text === 'default' ? text : read(text)
const perSecond = orDefault(wholeNumber(0, 1_000_000))
const days = orDefault(wholeNumber(1, 36_500))

export const projectChoices = (command: Command): Command =>
  command
    .addOption(choice('--mode <mode>', 'simulator sends to simulated phones, live to real ones', ['simulator', 'live']))
    .option('--plan <plan>', 'One of the plans of the setting PLANS')
    .option(
      '--requests-per-second <count>',
      'Limit for secret keys; 0 is none, default as before it was set',
      perSecond
    )
    .option(
      '--client-requests-per-second <count>',
      'Limit for public keys; 0 is none, default as before it was set',
      perSecond
    )
    .option(
      '--triggers-per-second <count>',
      'Limit for campaign triggers; 0 is none, default that of the plan',
      perSecond
    )
    .option('--events-days <days>', 'How long events are kept, or default', days)
    .option('--messages-days <days>', 'How long messages are kept, or default', days)

/** The same in the words of the API, with nothing in it that was not said. */
export function wishOf(choices: ProjectChoices) {
  const limits = given({
    requests_per_second: numberOf(choices.requestsPerSecond),
    client_requests_per_second: numberOf(choices.clientRequestsPerSecond),
    triggers_per_second: numberOf(choices.triggersPerSecond)
  })
  const retention = given({ events_days: numberOf(choices.eventsDays), messages_days: numberOf(choices.messagesDays) })
  return given({ mode: choices.mode, plan: choices.plan, limits, retention }) ?? {}
}

const numberOf = (choice: Choice | undefined) => (choice === 'default' ? null : choice)

function given<Fields extends object>(fields: Fields): Partial<Fields> | undefined {
  const said = Object.entries(fields).filter(([, value]) => value !== undefined)
  return said.length > 0 ? (Object.fromEntries(said) as Partial<Fields>) : undefined
}
