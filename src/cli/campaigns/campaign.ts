import type { Command } from 'commander'
import { segment } from '../client.ts'
import { projectOf } from '../connection.ts'
import { Ended, exit, Failure } from '../exit.ts'
import { type ListOptions, listing, readAll, showList } from '../listing.ts'
import { counted, printable, time } from '../output.ts'
import { type Common, choice, connect, examples, reaching, type Session, tell, wholeNumber } from '../session.ts'
import { print, remark, type Shell } from '../shell.ts'
import { declarePreview, declareTest, declareTrigger } from './sending.ts'
import { several } from './trigger-request.ts'

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

interface Version {
  version: number
  actor: string
  created_at: string
  campaign: Record<'name' | 'status', string>
}

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
  declareVersions(command, shell)
  const stays = 'What runs goes on: `tidings trigger cancel` stops it.'
  declareStatus(command, shell, 'pause', 'paused', 'Pause a campaign: it cannot be triggered for now', stays)
  declareStatus(command, shell, 'activate', 'active', 'Activate a campaign: it can be triggered', '')
  declareArchive(command, shell)
  declarePreview(command, shell)
  declareTest(command, shell)
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
    const { readCampaigns, withPlaces } = await import('./files.ts')
    const filed = (await Promise.all(options.file.map((file) => readCampaigns(shell, file)))).flat()
    const session = await connect(shell, options)
    const items: object[] = []
    for (const one of filed) {
      const { id, campaign: body } = one
      try {
        const saved = await withPlaces(one, () =>
          session.client.json<Saved>('PUT', `${campaignsIn(session)}/${segment(id)}`, { body })
        )
        items.push(saved)
        if (!session.json) print(shell, `${printable(id)} ${saved.result}, version ${saved.version}`)
        for (const warning of saved.warnings) remark(shell, `${printable(id)}: ${warning}`)
      } catch (error) {
        if (!(error instanceof Failure) || error.details.length === 0) throw error
        remark(shell, error.message)
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
    const { readCampaigns, withPlaces } = await import('./files.ts')
    const { differences } = await import('./diff.ts')
    const filed = (await Promise.all(options.file.map((file) => readCampaigns(shell, file)))).flat()
    const session = await connect(shell, options)
    const items: { campaign_id: string; changes: string[] }[] = []
    for (const one of filed) {
      const { id, campaign } = one
      const stored = await found<Campaign>(session, `${campaignsIn(session)}/${segment(id)}`)
      const changes = await withPlaces(one, () => differences(stored, { ...campaign, campaign_id: id }))
      items.push({ campaign_id: id, changes })
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
  command.option('--at <version>', 'As it was in this version', wholeNumber(1, 999_999_999))
  reaching(command, 'project')
  examples(command, ['tidings campaign get welcome > welcome.yaml', 'tidings campaign get welcome --json'])
  command.action(async (id: string, options: Common & { at?: number }) => {
    const session = await connect(shell, options)
    const path = `${campaignsIn(session)}/${segment(id)}`
    const { stringify } = await import('yaml')
    if (options.at !== undefined) {
      const old = await session.client.json<Version>('GET', `${path}/versions/${options.at}`)
      return tell(session, old, filedAs(stringify, old.campaign))
    }
    const campaign = await session.client.json<Campaign>('GET', path)
    const { version: _, created_at: __, updated_at: ___, warnings, ...filed } = campaign
    tell(session, campaign, filedAs(stringify, filed))
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

function declareVersions(parent: Command, shell: Shell): void {
  const command = parent.command('versions <campaign>').description('List the versions of a campaign')
  reaching(listing(command, 50), 'project')
  examples(
    command,
    ['tidings campaign versions welcome', 'tidings campaign get welcome --at 3 | tidings campaign apply -f -'],
    'The second line brings an old version back, as a new one.'
  )
  command.action(async (id: string, options: Common & ListOptions) => {
    const session = await connect(shell, options)
    const page = await readAll<Version>(session, `${campaignsIn(session)}/${segment(id)}/versions`, options)
    const columns = [
      ['version', (one: Version) => one.version],
      ['saved', (one: Version) => time(one.created_at)],
      ['by', (one: Version) => one.actor],
      ['status', (one: Version) => one.campaign.status],
      ['name', (one: Version) => one.campaign.name]
    ] as const
    showList(session, page, columns, 'There are no versions.')
  })
}

function declareStatus(parent: Command, shell: Shell, name: string, status: string, about: string, more: string): void {
  const command = parent.command(`${name} <campaign>`).description(about)
  reaching(command, 'project')
  examples(command, [`tidings campaign ${name} welcome`], more)
  command.action(async (id: string, options: Common) => {
    const session = await connect(shell, options)
    const path = `${campaignsIn(session)}/${segment(id)}`
    const {
      version,
      created_at: _,
      updated_at: __,
      warnings: ___,
      ...campaign
    } = await session.client.json<Campaign>('GET', path)
    const saved = await session.client.json<Saved>('PUT', path, {
      body: { ...campaign, status },
      // Only what was read is changed: whoever saved it meanwhile is not undone.
      headers: { 'if-match': `"${version}"` }
    })
    const running = status === 'active' ? 0 : await runningOf(session, id)
    tell(session, saved, `${printable(id)} is ${saved.status}, version ${saved.version}.`)
    if (running > 0 && !session.json)
      remark(
        shell,
        `${counted(running, 'trigger')} of it still run. \`tidings trigger cancel\` stops one, \`tidings trigger list\` shows them.`
      )
  })
}

async function runningOf(session: Session, id: string): Promise<number> {
  const query = { campaign_id: id, state: 'running' }
  const path = `/projects/${segment(projectOf(session.connection))}/triggers`
  return (await readAll(session, path, { limit: 200 }, query)).items.length
}

/** As people write it: what it is first, what it says then, and no line broken where a template would show it. */
const order = [
  ...['campaign_id', 'name', 'type', 'status', 'segment', 'default_audience', 'message', 'live_activity'],
  ...['attribute', 'event', 'operator', 'title', 'body']
]
const rank = (name: unknown) => (order.includes(String(name)) ? order.indexOf(String(name)) : order.length)

function filedAs(stringify: typeof import('yaml').stringify, campaign: Record<string, unknown>): string {
  const byRank = (one: { key: unknown }, two: { key: unknown }) => rank(one.key) - rank(two.key)
  return stringify(campaign, { lineWidth: 0, sortMapEntries: byRank }).trimEnd()
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
