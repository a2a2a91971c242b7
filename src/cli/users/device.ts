import { Argument, type Command } from 'commander'
import type { Device } from '../../wire.ts'
import { confirm } from '../confirm.ts'
import { projectOf } from '../connection.ts'
import { printable, record, time } from '../output.ts'
import { type Resource, resource } from '../resource.ts'
import { examples, inProject, tell } from '../session.ts'
import type { Shell } from '../shell.ts'
import { declarePhone } from './phone.ts'

interface AddOptions {
  user?: string
  id?: string
  fault?: string
  attributesType?: string[]
}

const platforms = ['ios', 'android', 'web']

export function declare(command: Command, shell: Shell): void {
  examples(command, [
    'tidings device list --user ana',
    'tidings device add ios --user ana',
    'tidings device show phone-1',
    'tidings device set demo-iphone --offline',
    'tidings device delete phone-1'
  ])
  const devices = resource(command, shell, { name: 'device', path: '/devices' })

  devices.list<Device, { user?: string }>({
    about: 'List devices, of all users or of one',
    examples: ['tidings device list', 'tidings device list --user demo-user'],
    usual: 100,
    options: (list) => list.option('--user <user>', 'Only devices of this user'),
    query: ({ user }) => ({ project_user_id: user }),
    columns: [
      ['device', ({ id }) => id],
      ['user', (device) => device.project_user_id],
      ['platform', ({ platform }) => platform],
      ['push', reach],
      ['seen', (device) => time(device.last_seen_at)]
    ],
    none: 'No devices yet. Add a simulated one with `tidings device add ios --user <user>`.'
  })

  devices.show<Device>({
    usage: 'show <device>',
    about: 'Show a device',
    examples: ['tidings device show demo-iphone'],
    text: shown
  })

  devices.verb<AddOptions>(
    {
      usage: 'add',
      about: 'Add a simulated phone or browser',
      examples: ['tidings device add ios --user ana', 'tidings device add android --user ana --fault 410'],
      more: 'Only for projects of mode simulator. docs/guides/simulator.md lists the faults.',
      options: (add) =>
        add
          .addArgument(new Argument('<platform>', 'What to add').choices(platforms))
          .option('--user <user>', 'Its user, who is created if absent')
          .option('--id <id>', 'Its id (default: generated)')
          .option('--fault <fault>', 'How every push to it fails: 410, 503, slow:1500, flaky:2, …')
          .option('--attributes-type <type...>', 'Live Activities that its app can start (iOS)')
    },
    async (session, { user, id, fault, attributesType }, platform: string) => {
      const body = {
        platform: platform.toUpperCase(),
        ...(user !== undefined && { project_user_id: user }),
        ...(id !== undefined && { device_id: id }),
        ...(fault !== undefined && { fault }),
        ...(attributesType !== undefined && { attributes_types: attributesType })
      }
      const device = await session.client.json<Device>('POST', inProject(session, '/simulator/devices'), { body })
      tell(session, device, `Added.\n\n${shown(device)}`)
    }
  )

  declarePhone(devices)
  declareDelete(devices)
}

function declareDelete(devices: Resource): void {
  devices.verb<{ yes?: true }>(
    {
      usage: 'delete <device>',
      about: 'Delete a device and its push tokens',
      examples: ['tidings device delete phone-1', 'tidings device delete phone-1 --yes'],
      more: 'The user stays, unless the user is anonymous and has no other device.\nThe app registers the device again when it starts.',
      options: (remove) => remove.option('-y, --yes', 'Do not ask')
    },
    async (session, { yes }, id: string) => {
      // The API lets the deletion of an absent device succeed; here a mistyped id is reported.
      await session.client.send('GET', devices.at(session, id))
      const question = `Delete the device ${printable(id)} of the project ${projectOf(session.connection)}? [y/N] `
      await confirm(session.shell, question, /^y(es)?$/i, yes === true)
      await session.client.remove(inProject(session, `/api/v1/devices/${encodeURIComponent(id)}`))
      tell(session, { deleted: id }, `Deleted the device ${printable(id)}.`)
    }
  )
}

const reach = ({ push, is_push_permission_granted }: Device): string =>
  push === null ? 'no token' : is_push_permission_granted ? push.type : 'not allowed'

const shown = (device: Device): string =>
  record([
    ['Device', device.id],
    ['User', device.project_user_id],
    ['Platform', device.platform],
    ['Model', device.model],
    ['System', [device.os_name, device.os_version].filter(Boolean).join(' ')],
    ['App', device.app_version],
    ['Push', reach(device)],
    ['Token', device.push && `${device.push.token_prefix}…`],
    ['Created', time(device.created_at)],
    ['Seen', time(device.last_seen_at)]
  ])
