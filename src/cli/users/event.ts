import type { Command } from 'commander'
import type { Event } from '../../wire.ts'
import { shortened, time } from '../output.ts'
import { resource } from '../resource.ts'
import { examples } from '../session.ts'
import type { Shell } from '../shell.ts'

export function declare(command: Command, shell: Shell): void {
  examples(command, ['tidings event list --user ana', 'tidings event list --name order_completed'])
  resource(command, shell, { name: 'event', path: '/events' }).list<
    Event,
    Partial<Record<'user' | 'device' | 'name', string>>
  >({
    about: 'List events, of all users or of one',
    examples: ['tidings event list --user ana', "tidings event list --json | jq -r '.items[].name'"],
    usual: 50,
    options: (list) =>
      list
        .option('--user <user>', 'Only events of this user')
        .option('--device <device>', 'Only events of this device')
        .option('--name <name>', 'Only events of this name'),
    query: ({ user, device, name }) => ({ project_user_id: user, device_id: device, name }),
    columns: [
      ['at', ({ at }) => time(at)],
      ['user', (event) => event.project_user_id],
      ['device', (event) => event.device_id],
      ['name', ({ name }) => name],
      ['properties', propertiesOf]
    ],
    none: 'No events match.'
  })
}

const propertiesOf = ({ properties }: Event) =>
  Object.keys(properties).length > 0 ? shortened(JSON.stringify(properties), 60) : ''
