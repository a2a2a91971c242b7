import type { Command } from 'commander'
import { readConfig } from '../../platform/config/config.ts'
import type { Waiting, Wish } from '../../resuming/resuming.ts'
import { confirm } from '../confirm.ts'
import { exit, Failure, usageFailure } from '../exit.ts'
import { counted } from '../output.ts'
import { examples, jsonOption, tell } from '../session.ts'
import { remark, type Shell } from '../shell.ts'
import { onDatabase } from './database.ts'

interface Options {
  discard?: true | string
  dryRun?: true
  yes?: true
  json?: true
}

export function declare(command: Command, shell: Shell): void {
  command
    .option('--discard [which]', 'Cancel what waited in the backup: what was due by now (due), or everything (all)')
    .option('--dry-run', 'Only count what waits')
    .option('--yes', 'Do not ask before --discard')
    .addOption(jsonOption())
  examples(
    command,
    ['tidings resume --dry-run', 'tidings resume', 'tidings resume --discard', 'tidings resume --discard=all --yes'],
    `A restored installation is paused. This lets its jobs run again and resumes
every project that the restore paused; projects that were paused before stay so.
Messages that waited in the backup are sent now, also those that the old
installation sent after the backup. With --discard they are canceled first:
triggers that were accepted or under way, and everything that was due by now.
What is due later stays, unless you say --discard=all. Requests that came after
the restore are always sent. It works with the service running or not; a node
cancels, and sends nothing before that is done. --discard=none stops that, and
sends the rest.`
  )
  command.action(async ({ discard, dryRun, yes, json }: Options) => {
    const wish = wishOf(discard)
    const done = await onDatabase(
      shell,
      readConfig(shell.env),
      async ({ pool, name }) => {
        const { resumeInstallation, waitingNow } = await import('../../resuming/resuming.ts')
        const waiting = await waitingNow(pool)
        if (!waiting || dryRun) return { database: name, resumed: false, discarding: false, waiting: waiting ?? null }
        if (wish === 'due' || wish === 'all') {
          remark(shell, linesOf(waiting, wish))
          const question = 'Type "discard" to cancel it for good: '
          await confirm(shell, question, /^discard$/, yes === true, 'Nothing was canceled.')
        }
        const now = await pool.transaction((tx) => resumeInstallation(tx, 'restore', wish))
        if (now === 'busy') throw busy()
        return { database: name, resumed: now === 'resumed', discarding: now === 'discarding', waiting }
      },
      { beside: true, mustExist: true }
    )
    tell({ shell, json: json === true }, done, sentenceOf(done))
  })
}

function wishOf(discard: Options['discard']): Wish | undefined {
  if (discard === undefined) return undefined
  const wish = discard === true ? 'due' : discard
  if (wish !== 'due' && wish !== 'all' && wish !== 'none') throw usageFailure('--discard takes due, all or none.')
  return wish
}

const busy = () =>
  new Failure(
    exit.failure,
    'discarding',
    'What waited is being canceled, and the installation continues when that is done. To stop it and send the rest: tidings resume --discard=none'
  )

interface Done {
  database: string
  resumed: boolean
  discarding: boolean
  waiting: Waiting | null
}

function sentenceOf({ database, resumed, discarding, waiting }: Done): string {
  if (resumed)
    return `The installation in the database ${database} is resumed: its projects continue as soon as a node runs jobs.`
  if (discarding)
    return `The installation in the database ${database} cancels what waited, as soon as a node runs jobs, and then continues.`
  if (waiting) return linesOf(waiting, 'none')
  return `The installation in the database ${database} is not paused. Paused projects: tidings project resume <id>`
}

const names: Record<keyof Waiting, [one: string, many: string]> = {
  triggers: ['trigger', 'triggers'],
  messages: ['message', 'messages'],
  journeys: ['user on the way through a campaign', 'users on their way through campaigns'],
  schedules: ['schedule that missed an occurrence', 'schedules that missed an occurrence'],
  events: ['event for campaigns', 'events for campaigns'],
  channel_updates: ['update of a Live Activity channel', 'updates of Live Activity channels'],
  agent_tasks: ['task of an agent', 'tasks of agents']
}

/** One line for each kind: `3 triggers, and 2 due later`. */
function linesOf(waiting: Waiting, wish: Wish): string {
  const lines = Object.entries(waiting).flatMap(([kind, { due, later }]) => {
    if (due + later === 0) return []
    const what = counted(due, ...names[kind as keyof Waiting])
    return `  ${what}${later > 0 ? `, and ${later} due later${wish === 'due' ? ', which stay' : ''}` : ''}`
  })
  return ['Waiting in the backup:', ...(lines.length > 0 ? lines : ['  nothing'])].join('\n')
}
