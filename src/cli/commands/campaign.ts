import type { Command } from 'commander'
import { newId } from '../../platform/ids.ts'
import { segment } from '../client.ts'
import { projectOf } from '../connection.ts'
import { Ended, exit, Failure, usageFailure } from '../exit.ts'
import { type ListOptions, listing, readAll, showList } from '../listing.ts'
import { printable, record, time } from '../output.ts'
import { propertyHelp, type Scalar, typedProperty } from '../properties.ts'
import { type Common, choice, connect, examples, reaching, type Session, tell } from '../session.ts'
import { print, remark, type Shell } from '../shell.ts'
import { shownTrigger, watchTrigger } from '../trigger-progress.ts'

interface Campaign extends Record<string, unknown> {
  campaign_id: string
  name: string
  type: string
  status: string
  version: number
  updated_at: string
  warnings: string[]
}

type Saved = Campaign & { result: 'created' | 'updated' | 'unchanged' }

const several = (argument: string, before: string[] = []) => [...before, argument]

export function declare(command: Command, shell: Shell): void {
  examples(command, [
    'tidings campaign apply -f welcome.yaml',
    'tidings campaign trigger welcome --user ana --watch',
    'tidings campaign list'
  ])
  declareApply(command, shell)
  declareDiff(command, shell)
  declareGet(command, shell)
  declareList(command, shell)
  declareArchive(command, shell)
  declareTrigger(command, shell)
}

function declareApply(parent: Command, shell: Shell): void {
  const command = parent.command('apply').description('Save the campaigns of files; what is already so stays as it is')
  command.requiredOption('-f, --file <file>', 'YAML or JSON, one or several documents; - is standard input', several)
  reaching(command, 'project')
  examples(
    command,
    ['tidings campaign apply -f welcome.yaml', 'tidings campaign apply -f news.yaml -f sale.yaml -p shop'],
    'Running it again does no harm. Ends with 1 if a campaign was refused.'
  )
  command.action(async (options: Common & { file: string[] }) => {
    const { readCampaigns } = await import('../campaign-files.ts')
    const filed = (await Promise.all(options.file.map((file) => readCampaigns(shell, file)))).flat()
    const session = await connect(shell, options)
    const items: object[] = []
    for (const { place, id, campaign } of filed) {
      try {
        const saved = await session.client.json<Saved>('PUT', `${campaignsIn(session)}/${segment(id)}`, {
          body: campaign
        })
        items.push(saved)
        if (!session.json) print(shell, `${printable(id)} ${saved.result}, version ${saved.version}`)
        for (const warning of saved.warnings) remark(shell, `${printable(id)}: ${warning}`)
      } catch (error) {
        if (!(error instanceof Failure) || error.details.length === 0) throw error
        const told = error.details.map(({ path, message }) => `  ${path}: ${message}`)
        remark(shell, [`${place}: ${printable(id)} was refused.`, ...told].join('\n'))
        items.push({ campaign_id: id, error: error.message, code: error.code, details: error.details })
      }
    }
    if (session.json) tell(session, { items }, '')
    if (items.some((item) => 'error' in item)) throw new Ended(exit.failure)
  })
}

function declareDiff(parent: Command, shell: Shell): void {
  const command = parent.command('diff').description('See what applying files would change')
  command.requiredOption('-f, --file <file>', 'YAML or JSON, one or several documents; - is standard input', several)
  reaching(command, 'project')
  examples(command, ['tidings campaign diff -f welcome.yaml'], 'Ends with 1 if there is a difference, with 0 if not.')
  command.action(async (options: Common & { file: string[] }) => {
    const { readCampaigns } = await import('../campaign-files.ts')
    const { differences } = await import('../campaign-diff.ts')
    const filed = (await Promise.all(options.file.map((file) => readCampaigns(shell, file)))).flat()
    const session = await connect(shell, options)
    const items: { campaign_id: string; changes: string[] }[] = []
    for (const { id, campaign } of filed) {
      const stored = await found<Campaign>(session, `${campaignsIn(session)}/${segment(id)}`)
      items.push({ campaign_id: id, changes: differences(stored, { ...campaign, campaign_id: id }) })
    }
    const changed = items.filter(({ changes }) => changes.length > 0)
    const text = changed.map(({ campaign_id, changes }) =>
      [printable(campaign_id), ...changes.map(printable)].join('\n')
    )
    tell(session, { items }, text.length > 0 ? text.join('\n\n') : 'No differences.')
    if (changed.length > 0) throw new Ended(exit.failure)
  })
}

function declareGet(parent: Command, shell: Shell): void {
  const command = parent.command('get <campaign>').description('Show a campaign, as it would stand in a file')
  reaching(command, 'project')
  examples(command, ['tidings campaign get welcome > welcome.yaml', 'tidings campaign get welcome --json'])
  command.action(async (id: string, options: Common) => {
    const session = await connect(shell, options)
    const campaign = await session.client.json<Campaign>('GET', `${campaignsIn(session)}/${segment(id)}`)
    const { stringify } = await import('yaml')
    const { version: _, created_at: __, updated_at: ___, warnings, ...filed } = campaign
    tell(session, campaign, stringify(filed).trimEnd())
    if (!session.json) for (const warning of warnings) remark(shell, warning)
  })
}

function declareList(parent: Command, shell: Shell): void {
  const command = parent.command('list').description('List campaigns')
  command.addOption(choice('--status <status>', 'Only these', ['draft', 'active', 'paused', 'archived']))
  reaching(listing(command), 'project')
  examples(command, ['tidings campaign list', 'tidings campaign list --status active'])
  command.action(async (options: Common & ListOptions & { status?: string }) => {
    const session = await connect(shell, options)
    const page = await readAll<Campaign>(session, campaignsIn(session), options, { status: options.status })
    const columns = [
      ['campaign', (one: Campaign) => one.campaign_id],
      ['name', (one: Campaign) => one.name],
      ['type', (one: Campaign) => one.type],
      ['status', (one: Campaign) => one.status],
      ['version', (one: Campaign) => one.version],
      ['updated', (one: Campaign) => time(one.updated_at)]
    ] as const
    showList(session, page, columns, 'There are no campaigns.')
  })
}

function declareArchive(parent: Command, shell: Shell): void {
  const command = parent.command('archive <campaign>').description('Archive a campaign: it can no longer be triggered')
  reaching(command, 'project')
  examples(command, ['tidings campaign archive welcome'], 'Its history stays. `apply` brings it back.')
  command.action(async (id: string, options: Common) => {
    const session = await connect(shell, options)
    const saved = await session.client.json<Saved>('DELETE', `${campaignsIn(session)}/${segment(id)}`)
    tell(session, saved, `Archived ${printable(id)}, version ${saved.version}.`)
  })
}

interface TriggerOptions extends Common {
  user?: string[]
  device?: string[]
  broadcast?: true
  property?: [string, Scalar][]
  watch?: true
}

function declareTrigger(parent: Command, shell: Shell): void {
  const command = parent.command('trigger <campaign>').description('Trigger a campaign')
  command
    .option('--user <user>', 'A user to reach, by project_user_id; may be repeated', several)
    .option('--device <device>', 'A device to reach; may be repeated', several)
    .option('--broadcast', 'Everyone in the segment of the campaign')
    .option(
      '--property <name=value>',
      'A property for its templates and conditions; may be repeated',
      (argument: string, before: [string, Scalar][] = []) => [...before, typedProperty(argument)]
    )
    .option('--watch', 'Show how far it is, until it has ended')
  reaching(command, 'project')
  examples(
    command,
    [
      'tidings campaign trigger welcome --user ana --property code=SPRING',
      'tidings campaign trigger news --broadcast --watch'
    ],
    `Without --user, --device and --broadcast it goes to the default audience of the
campaign. With --watch it ends with 1 if a message failed.
${propertyHelp.trim().split('\n').slice(0, 3).join('\n')}`
  )
  command.action(async (id: string, options: TriggerOptions) => {
    const { user = [], device = [], broadcast, property = [] } = options
    if (broadcast && user.length + device.length > 0)
      throw usageFailure('Give --broadcast, or --user and --device, and not both.')
    const targets = [
      ...user.map((project_user_id) => ({ project_user_id })),
      ...device.map((device_id) => ({ device_id }))
    ]
    const audience = broadcast ? { broadcast } : targets.length > 0 ? { targets } : undefined
    const session = await connect(shell, options)
    const path = `/projects/${segment(projectOf(session.connection))}/api/v1/campaigns/${segment(id)}:trigger`
    const answer = await session.client.json<{ trigger_id: string }>('POST', path, {
      body: { ...(audience && { audience }), properties: Object.fromEntries(property) },
      // With a key of its own it can be said again when the answer was lost.
      headers: { 'idempotency-key': newId() },
      repeatable: true
    })
    if (!options.watch) return tell(session, answer, record([['Trigger', answer.trigger_id]]))
    const trigger = await watchTrigger(session, answer.trigger_id)
    tell(session, trigger, shownTrigger(trigger))
    if (trigger.state !== 'completed' || trigger.counts.failed > 0) throw new Ended(exit.failure)
  })
}

const campaignsIn = ({ connection }: Session) => `/projects/${segment(projectOf(connection))}/campaigns`

async function found<Answer>({ client }: Session, path: string): Promise<Answer | undefined> {
  try {
    return await client.json<Answer>('GET', path)
  } catch (error) {
    if (error instanceof Failure && error.exitCode === exit.notFound) return undefined
    throw error
  }
}
