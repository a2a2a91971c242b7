import type { Command } from 'commander'
import { segment } from '../client.ts'
import { projectOf } from '../connection.ts'
import { type ListOptions, listing, readAll, showList } from '../listing.ts'
import { shortened, time } from '../output.ts'
import { type Common, connect, examples, reaching } from '../session.ts'
import type { Shell } from '../shell.ts'

interface Event {
  id: string
  at: string
  name: string
  project_user_id: string | null
  device_id: string | null
  message_id: string | null
  properties: Record<string, unknown>
}

const usual = 50

export function declare(command: Command, shell: Shell): void {
  examples(command, ['tidings event list --user ana', 'tidings event list --name order_completed'])
  const list = command.command('list').description('List events, of all users or of one')
  list
    .option('--user <user>', 'Only those of this user')
    .option('--device <device>', 'Only those of this device')
    .option('--name <name>', 'Only those of this name')
  reaching(listing(list, usual), 'project')
  examples(list, ['tidings event list --user ana', "tidings event list --json | jq -r '.items[].name'"])
  list.action(async (options: Common & ListOptions & Partial<Record<'user' | 'device' | 'name', string>>) => {
    const session = await connect(shell, options)
    const query = { project_user_id: options.user, device_id: options.device, name: options.name }
    const path = `/projects/${segment(projectOf(session.connection))}/events`
    const columns = [
      ['at', (event: Event) => time(event.at)],
      ['user', (event: Event) => event.project_user_id],
      ['device', (event: Event) => event.device_id],
      ['name', (event: Event) => event.name],
      ['properties', (event: Event) => propertiesOf(event)]
    ] as const
    showList(session, await readAll<Event>(session, path, options, query), columns, 'There are no events.')
  })
}

const propertiesOf = ({ properties }: Event) =>
  Object.keys(properties).length > 0 ? shortened(JSON.stringify(properties), 60) : ''
