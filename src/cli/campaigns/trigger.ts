import type { Command } from 'commander'
import type { Explanation, Gate, Trigger } from '../../wire.ts'
import { Ended, exit } from '../exit.ts'
import { printable, time } from '../output.ts'
import { type Resource, resource } from '../resource.ts'
import { choice, examples, tell } from '../session.ts'
import type { Shell } from '../shell.ts'
import { inShort, shownTrigger, watchTrigger } from './trigger-progress.ts'

type Filter = Partial<Record<'campaign' | 'state' | 'since' | 'before', string>>

const states = ['scheduled', 'accepted', 'running', 'canceling', 'completed', 'canceled', 'failed']

export function declare(command: Command, shell: Shell): void {
  examples(
    command,
    ['tidings trigger list', 'tidings trigger explain <trigger> --user ana'],
    'To trigger a campaign, use `tidings campaign trigger <campaign>`.'
  )
  const triggers = resource(command, shell, { name: 'trigger', path: '/api/v1/triggers' })
  triggers.list<Trigger, Filter>({
    about: 'List triggers',
    examples: ['tidings trigger list', 'tidings trigger list --campaign welcome --state running'],
    usual: 50,
    options: (list) =>
      list
        .option('--campaign <campaign>', 'Only triggers of this campaign')
        .addOption(choice('--state <state>', 'Only triggers in this state', states))
        .option('--since <time>', 'Only triggers since then: 2026-11-15, 2026-11-15T09:30Z')
        .option('--before <time>', 'Only triggers before then'),
    query: ({ campaign, state, since, before }) => ({
      campaign_id: campaign,
      state,
      accepted_after: since,
      accepted_before: before
    }),
    columns: [
      ['trigger', (one) => one.trigger_id],
      ['campaign', (one) => one.campaign_id],
      ['state', stateOf],
      ['targeted', ({ counts }) => counts.targeted],
      ['sent', ({ counts }) => counts.sent],
      ['failed', ({ counts }) => counts.failed],
      ['skipped', ({ counts }) => counts.skipped],
      ['accepted', (one) => time(one.accepted_at)]
    ],
    none: 'No triggers match.'
  })
  declareGet(triggers)
  declareMove(triggers)
  declareCancel(triggers)
  declareExplain(triggers)
}

function stateOf({ state, reason, send_at }: Trigger): string {
  if (state === 'scheduled') return `scheduled for ${time(send_at)}`
  return reason ? `${state} (${reason})` : state
}

function declareGet(triggers: Resource): void {
  triggers.verb<{ watch?: true }>(
    {
      usage: 'get <trigger>',
      about: 'Show a trigger and the outcomes of its messages',
      examples: ['tidings trigger get 0199c0de-0000-7000-8000-000000000001 --watch'],
      options: (get) => get.option('--watch', 'Show the progress until it ends')
    },
    async (session, { watch }, id: string) => {
      const trigger = watch
        ? await watchTrigger(session, id)
        : await session.client.json<Trigger>('GET', triggers.at(session, id))
      tell(session, trigger, shownTrigger(trigger))
    }
  )
}

function declareMove(triggers: Resource): void {
  triggers.verb<{ to: string }>(
    {
      usage: 'move <trigger>',
      about: 'Move a scheduled trigger to another time',
      examples: ['tidings trigger move 0199c0de-0000-7000-8000-000000000001 --to 2026-12-24T18:00Z'],
      options: (move) => move.requiredOption('--to <time>', 'The new time, at most 90 days ahead; a past one: now')
    },
    async (session, { to }, id: string) => {
      const body = { send_at: to }
      const trigger = await session.client.json<Trigger>('PATCH', triggers.at(session, id), { body, repeatable: true })
      tell(session, trigger, shownTrigger(trigger))
    }
  )
}

function declareCancel(triggers: Resource): void {
  triggers.verb(
    {
      usage: 'cancel <trigger>',
      about: 'Cancel a trigger: no further message is sent',
      examples: ['tidings trigger cancel 0199c0de-0000-7000-8000-000000000001']
    },
    async (session, _, id: string) => {
      const path = triggers.at(session, id, ':cancel')
      const trigger = await session.client.json<Trigger>('POST', path, { repeatable: true })
      tell(session, trigger, `The trigger is ${inShort(trigger)}.`)
      // The trigger had ended before, or a gateway has not responded yet.
      if (trigger.state !== 'canceled') throw new Ended(exit.failure)
    }
  )
}

function declareExplain(triggers: Resource): void {
  triggers.verb<{ user: string }>(
    {
      usage: 'explain <trigger>',
      about: 'Explain why a user got the message of a trigger, or why not',
      examples: ['tidings trigger explain 0199c0de-0000-7000-8000-000000000001 --user ana'],
      options: (explain) => explain.requiredOption('--user <user>', 'By project_user_id')
    },
    async (session, { user }, id: string) => {
      const query = { project_user_id: user }
      const found = await session.client.json<Explanation>('GET', triggers.at(session, id, '/explain'), { query })
      const lines = found.gates.map(shownGate)
      for (const { device_id, state, gates } of found.devices)
        lines.push(
          '',
          `Device ${printable(device_id)}: ${state === 'none' ? 'no message' : state}`,
          ...gates.map(shownGate)
        )
      tell(session, found, lines.join('\n'))
    }
  )
}

const shownGate = ({ gate, passed, reason, message, conditions = [] }: Gate): string =>
  [
    printable(`${passed ? 'yes' : 'NO '}  ${gate.padEnd(9)} ${message}${reason ? ` (${reason})` : ''}`),
    ...conditions.flatMap((condition) => shownCondition(condition, 15))
  ].join('\n')

type Condition = NonNullable<Gate['conditions']>[number]

const shownCondition = ({ passed, message, conditions = [] }: Condition, indent: number): string[] => [
  printable(`${' '.repeat(indent)}${passed ? 'yes' : 'NO '}  ${message}`),
  ...conditions.flatMap((inner) => shownCondition(inner, indent + 5))
]
