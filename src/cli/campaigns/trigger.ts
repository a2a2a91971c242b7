import type { Command } from 'commander'
import type { Explanation, Gate, AnsweredTrigger as Trigger } from '../../triggers/responses.ts'
import { segment } from '../client.ts'
import { Ended, exit } from '../exit.ts'
import { type ListOptions, listing, readAll, showList } from '../listing.ts'
import { printable, time } from '../output.ts'
import { type Common, choice, connect, examples, reaching, tell } from '../session.ts'
import type { Shell } from '../shell.ts'
import { inShort, shownTrigger, triggersIn, watchTrigger } from './trigger-progress.ts'

type Filter = Partial<Record<'campaign' | 'state' | 'since' | 'before', string>>

const usual = 50
const states = ['accepted', 'running', 'canceling', 'completed', 'canceled', 'failed']

export function declare(command: Command, shell: Shell): void {
  examples(
    command,
    ['tidings trigger list', 'tidings trigger explain <trigger> --user ana'],
    'To trigger a campaign: `tidings campaign trigger <campaign>`.'
  )
  declareList(command, shell)
  declareGet(command, shell)
  declareCancel(command, shell)
  declareExplain(command, shell)
}

function declareList(parent: Command, shell: Shell): void {
  const command = parent.command('list').description('List triggers')
  command
    .option('--campaign <campaign>', 'Only those of this campaign')
    .addOption(choice('--state <state>', 'Only those in this state', states))
    .option('--since <time>', 'Only those since then: 2026-11-15, 2026-11-15T09:30Z')
    .option('--before <time>', 'Only those before then')
  reaching(listing(command, usual), 'project')
  examples(command, ['tidings trigger list', 'tidings trigger list --campaign welcome --state running'])
  command.action(async (options: Common & ListOptions & Filter) => {
    const session = await connect(shell, options)
    const { campaign: campaign_id, state, since: accepted_after, before: accepted_before } = options
    const query = { campaign_id, state, accepted_after, accepted_before }
    const page = await readAll<Trigger>(session, triggersIn(session), options, query)
    const columns = [
      ['trigger', (one: Trigger) => one.trigger_id],
      ['campaign', (one: Trigger) => one.campaign_id],
      ['state', (one: Trigger) => one.state],
      ['targeted', (one: Trigger) => one.counts.targeted],
      ['sent', (one: Trigger) => one.counts.sent],
      ['failed', (one: Trigger) => one.counts.failed],
      ['skipped', (one: Trigger) => one.counts.skipped],
      ['accepted', (one: Trigger) => time(one.accepted_at)]
    ] as const
    showList(session, page, columns, 'There are no triggers.')
  })
}

function declareGet(parent: Command, shell: Shell): void {
  const command = parent.command('get <trigger>').description('Show a trigger and what became of its messages')
  command.option('--watch', 'Show how far it is, until it has ended')
  reaching(command, 'project')
  examples(command, ['tidings trigger get 0199c0de-0000-7000-8000-000000000001 --watch'])
  command.action(async (id: string, options: Common & { watch?: true }) => {
    const session = await connect(shell, options)
    const trigger = options.watch
      ? await watchTrigger(session, id)
      : await session.client.json<Trigger>('GET', `${triggersIn(session)}/${segment(id)}`)
    tell(session, trigger, shownTrigger(trigger))
  })
}

function declareCancel(parent: Command, shell: Shell): void {
  const command = parent.command('cancel <trigger>').description('Cancel a trigger: nothing more is handed over')
  reaching(command, 'project')
  examples(command, ['tidings trigger cancel 0199c0de-0000-7000-8000-000000000001'])
  command.action(async (id: string, options: Common) => {
    const session = await connect(shell, options)
    const trigger = await session.client.json<Trigger>('POST', `${triggersIn(session)}/${segment(id)}:cancel`, {
      repeatable: true
    })
    tell(session, trigger, `The trigger is ${inShort(trigger)}.`)
    // It had ended before, or some gateway still has not answered.
    if (trigger.state !== 'canceled') throw new Ended(exit.failure)
  })
}

function declareExplain(parent: Command, shell: Shell): void {
  const command = parent.command('explain <trigger>').description('Why a user got the message of a trigger, or why not')
  command.requiredOption('--user <user>', 'By project_user_id')
  reaching(command, 'project')
  examples(command, ['tidings trigger explain 0199c0de-0000-7000-8000-000000000001 --user ana'])
  command.action(async (id: string, options: Common & { user: string }) => {
    const session = await connect(shell, options)
    const path = `${triggersIn(session)}/${segment(id)}/explain`
    const found = await session.client.json<Explanation>('GET', path, { query: { project_user_id: options.user } })
    const lines = found.gates.map(shownGate)
    for (const { device_id, state, gates } of found.devices)
      lines.push(
        '',
        `Device ${printable(device_id)}: ${state === 'none' ? 'no message' : state}`,
        ...gates.map(shownGate)
      )
    tell(session, found, lines.join('\n'))
  })
}

const shownGate = ({ gate, passed, reason, message }: Gate): string =>
  printable(`${passed ? 'yes' : 'NO '}  ${gate.padEnd(9)} ${message}${reason ? ` (${reason})` : ''}`)
