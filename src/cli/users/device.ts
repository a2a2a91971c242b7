import type { Command } from 'commander'
import { segment } from '../client.ts'
import { confirm } from '../confirm.ts'
import { projectOf } from '../connection.ts'
import { type ListOptions, listing, readAll, showList } from '../listing.ts'
import { printable, record, time } from '../output.ts'
import { type Common, connect, examples, reaching, type Session, tell } from '../session.ts'
import type { Shell } from '../shell.ts'

interface Device {
  id: string
  platform: string
  is_push_permission_granted: boolean
  project_user_id: string | null
  model: string | null
  os_name: string | null
  os_version: string | null
  app_version: string | null
  push: { token_prefix: string; type: string; environment: string; registered_at: string } | null
  created_at: string
  last_seen_at: string
}

const usual = 100
const platforms = ['ios', 'android', 'web']

export function declare(command: Command, shell: Shell): void {
  examples(command, [
    'tidings device list --user ana',
    'tidings device add ios --user ana',
    'tidings device show phone-1',
    'tidings device delete phone-1'
  ])
  declareList(command, shell)
  declareShow(command, shell)
  declareAdd(command, shell)
  declareDelete(command, shell)
}

function declareList(parent: Command, shell: Shell): void {
  const command = parent.command('list').description('List devices, of all users or of one')
  command.option('--user <user>', 'Only devices of this user')
  reaching(listing(command, usual), 'project')
  examples(command, ['tidings device list', 'tidings device list --user demo-user'])
  command.action(async (options: Common & ListOptions & { user?: string }) => {
    const session = await connect(shell, options)
    const columns = [
      ['device', (device: Device) => device.id],
      ['user', (device: Device) => device.project_user_id],
      ['platform', (device: Device) => device.platform],
      ['push', (device: Device) => reach(device)],
      ['seen', (device: Device) => time(device.last_seen_at)]
    ] as const
    const page = await readAll<Device>(session, devicesIn(session), options, { project_user_id: options.user })
    showList(session, page, columns, 'There are no devices.')
  })
}

function declareShow(parent: Command, shell: Shell): void {
  const command = parent.command('show <device>').description('Show a device')
  reaching(command, 'project')
  examples(command, ['tidings device show demo-iphone'])
  command.action(async (id: string, options: Common) => {
    const session = await connect(shell, options)
    const device = await session.client.json<Device>('GET', `${devicesIn(session)}/${segment(id)}`)
    tell(session, device, shown(device))
  })
}

interface AddOptions extends Common {
  user?: string
  id?: string
  fault?: string
}

function declareAdd(parent: Command, shell: Shell): void {
  const command = parent
    .command('add')
    .description('Add a simulated phone or browser')
    .addArgument(parent.createArgument('<platform>', 'What to add').choices(platforms))
  command
    .option('--user <user>', 'Who uses it; made if there is no such user')
    .option('--id <id>', 'The id of the device (else one is made up)')
    .option('--fault <fault>', 'What every push to it meets: 410, 503, slow:1500, flaky:2, …')
  reaching(command, 'project')
  examples(
    command,
    ['tidings device add ios --user ana', 'tidings device add android --user ana --fault 410'],
    'Only for projects of mode simulator. docs/guides/simulator.md lists the faults.'
  )
  command.action(async (platform: string, options: AddOptions) => {
    const session = await connect(shell, options)
    const path = `/projects/${segment(projectOf(session.connection))}/simulator/devices`
    const body = {
      platform: platform.toUpperCase(),
      ...(options.user !== undefined && { project_user_id: options.user }),
      ...(options.id !== undefined && { device_id: options.id }),
      ...(options.fault !== undefined && { fault: options.fault })
    }
    const device = await session.client.json<Device>('POST', path, { body })
    tell(session, device, `Added.\n\n${shown(device)}`)
  })
}

function declareDelete(parent: Command, shell: Shell): void {
  const command = parent.command('delete <device>').description('Delete a device and its push tokens')
  command.option('-y, --yes', 'Do not ask')
  reaching(command, 'project')
  examples(
    command,
    ['tidings device delete phone-1', 'tidings device delete phone-1 --yes'],
    'The user stays, unless the user is anonymous and has no other device.\nThe app registers the device again when it starts.'
  )
  command.action(async (id: string, options: Common & { yes?: true }) => {
    const session = await connect(shell, options)
    // The API lets the deletion of an absent device succeed; here a mistyped id is reported.
    await session.client.send('GET', `${devicesIn(session)}/${segment(id)}`)
    const question = `Delete the device ${printable(id)} of the project ${projectOf(session.connection)}? [y/N] `
    await confirm(shell, question, /^y(es)?$/i, options.yes === true)
    const path = `/projects/${segment(projectOf(session.connection))}/api/v1/devices/${segment(id)}`
    await session.client.send('DELETE', path)
    tell(session, { deleted: id }, `Deleted the device ${printable(id)}.`)
  })
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

const devicesIn = ({ connection }: Session) => `/projects/${segment(projectOf(connection))}/devices`
