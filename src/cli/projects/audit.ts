import type { Command } from 'commander'
import { segment } from '../client.ts'
import { projectOf } from '../connection.ts'
import { type ListOptions, listing, readAll, showList } from '../listing.ts'
import { shortened, time } from '../output.ts'
import { type Common, connect, examples, reaching } from '../session.ts'
import type { Shell } from '../shell.ts'

interface Entry {
  at: string
  actor: string
  action: string
  target: string
  details: Record<string, unknown>
}

const usual = 100
const detailsLength = 60

export function declare(command: Command, shell: Shell): void {
  examples(command, ['tidings audit list', 'tidings audit list -p shop'])
  const list = command.command('list').description('List what was changed in a project, and by whom')
  reaching(listing(list, usual), 'project')
  examples(list, ['tidings audit list', 'tidings audit list -p shop --limit all --json'])
  list.action(async (options: Common & ListOptions) => {
    const session = await connect(shell, options)
    const project = projectOf(session.connection)
    const columns = [
      ['at', (entry: Entry) => time(entry.at)],
      ['actor', (entry: Entry) => entry.actor],
      ['action', (entry: Entry) => entry.action],
      ['target', (entry: Entry) => entry.target],
      [
        'details',
        ({ details }: Entry) =>
          Object.keys(details).length > 0 ? shortened(JSON.stringify(details), detailsLength) : ''
      ]
    ] as const
    const page = await readAll<Entry>(session, `/projects/${segment(project)}/audit`, options)
    showList(session, page, columns, `Nothing was changed in ${project} yet.`)
  })
}
