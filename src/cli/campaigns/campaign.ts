import type { Command } from 'commander'
import type { Campaign, CampaignVersion, SavedCampaign } from '../../wire.ts'
import { Ended, exit, Failure } from '../exit.ts'
import { readAll } from '../listing.ts'
import { counted, printable, time } from '../output.ts'
import { type Resource, resource } from '../resource.ts'
import { choice, examples, inProject, type Session, tell, wholeNumber } from '../session.ts'
import { print, remark, type Shell } from '../shell.ts'
import type { FiledCampaign } from './files.ts'
import { declareJourneys } from './journeys.ts'
import { declarePreview, declareTest, declareTrigger } from './sending.ts'
import { declareStats } from './stats.ts'
import { declareTexts } from './texts.ts'
import { several } from './trigger-request.ts'

const statuses = ['draft', 'active', 'paused', 'archived']

export function declare(command: Command, shell: Shell): void {
  examples(command, [
    'tidings campaign apply -f welcome.yaml',
    'tidings campaign trigger welcome --user ana --watch',
    'tidings campaign list'
  ])
  const campaigns = resource(command, shell, { name: 'campaign', path: '/campaigns' })
  declareApply(campaigns)
  declareDiff(campaigns)
  declareGet(campaigns)
  campaigns.list<Campaign, { status?: string }>({
    about: 'List campaigns',
    examples: ['tidings campaign list', 'tidings campaign list --status active'],
    options: (list) => list.addOption(choice('--status <status>', 'Only campaigns of this status', statuses)),
    query: ({ status }) => ({ status }),
    columns: [
      ['campaign', (one) => one.campaign_id],
      ['name', ({ name }) => name],
      ['type', ({ type }) => type],
      ['status', ({ status }) => status],
      ['version', ({ version }) => version],
      ['updated', (one) => time(one.updated_at)]
    ],
    none: ({ status }) =>
      status ? 'No campaigns match.' : 'No campaigns yet. Save one with `tidings campaign apply -f <file>`.'
  })
  campaigns.list<CampaignVersion>({
    usage: 'versions <campaign>',
    about: 'List the versions of a campaign',
    examples: [
      'tidings campaign versions welcome',
      'tidings campaign get welcome --at 3 | tidings campaign apply -f -'
    ],
    more: 'The second line saves an old version again, as a new one.',
    usual: 50,
    below: '/versions',
    columns: [
      ['version', ({ version }) => version],
      ['saved', (one) => time(one.created_at)],
      ['by', ({ actor }) => actor],
      ['status', ({ campaign }) => campaign.status],
      ['name', ({ campaign }) => campaign.name]
    ],
    none: 'No versions.'
  })
  declareStats(campaigns)
  declareJourneys(campaigns)
  const stays = 'Running triggers continue: `tidings trigger cancel` stops one.'
  declareStatus(campaigns, 'pause', 'paused', 'Pause a campaign: it starts nothing for now', stays)
  declareStatus(campaigns, 'activate', 'active', 'Activate a campaign: triggers, its schedule or its event start it')
  declareArchive(campaigns)
  declareWinner(campaigns)
  declarePreview(command, shell)
  declareTest(command, shell)
  declareTrigger(command, shell)
  declareTexts(command, shell)
}

const withFile = (command: Command) =>
  command.requiredOption('-f, --file <file>', 'YAML or JSON, one or several documents; - is standard input', several)

/** Reads all files before anything is saved. */
async function campaignsOf(shell: Shell, files: readonly string[]): Promise<FiledCampaign[]> {
  const { readCampaigns } = await import('./files.ts')
  return (await Promise.all(files.map((file) => readCampaigns(shell, file)))).flat()
}

function declareApply(campaigns: Resource): void {
  campaigns.verb<{ file: string[] }>(
    {
      usage: 'apply',
      about: 'Save the campaigns of files; unchanged ones stay as they are',
      examples: ['tidings campaign apply -f welcome.yaml', 'tidings campaign apply -f news.yaml -f sale.yaml -p shop'],
      more: 'It can be repeated safely. Ends with 1 if a campaign was refused.',
      options: withFile
    },
    async (session, { file }) => {
      const items: object[] = []
      for (const filed of await campaignsOf(session.shell, file)) items.push(await apply(campaigns, session, filed))
      if (session.json) tell(session, { items }, '')
      if (items.some((item) => 'error' in item)) throw new Ended(exit.failure)
    }
  )
}

/** Saves one campaign. One that is refused is reported and does not stop the others. */
async function apply(campaigns: Resource, session: Session, filed: FiledCampaign): Promise<object> {
  const { withPlaces } = await import('./files.ts')
  const { id, campaign: body } = filed
  try {
    const path = campaigns.at(session, id)
    const saved = await withPlaces(filed, () => session.client.json<SavedCampaign>('PUT', path, { body }))
    if (!session.json) print(session.shell, `${printable(id)} ${saved.result}, version ${saved.version}`)
    for (const warning of saved.warnings) remark(session.shell, `${printable(id)}: ${warning}`)
    return saved
  } catch (error) {
    if (!(error instanceof Failure) || error.details.length === 0) throw error
    remark(session.shell, error.message)
    return { campaign_id: id, error: error.message, code: error.code, details: error.details }
  }
}

function declareDiff(campaigns: Resource): void {
  campaigns.verb<{ file: string[] }>(
    {
      usage: 'diff',
      about: 'Show what applying files would change',
      examples: ['tidings campaign diff -f welcome.yaml'],
      more: 'Ends with 1 if there is a difference, with 0 if not.',
      options: withFile
    },
    async (session, { file }) => {
      const [{ withPlaces }, { differences }] = await Promise.all([import('./files.ts'), import('./diff.ts')])
      const items: { campaign_id: string; changes: string[] }[] = []
      for (const filed of await campaignsOf(session.shell, file)) {
        const { id, campaign } = filed
        const stored = await found<Campaign>(session, campaigns.at(session, id))
        const changes = await withPlaces(filed, () =>
          differences(stored && definitionOf(stored), { ...campaign, campaign_id: id })
        )
        items.push({ campaign_id: id, changes })
      }
      const changed = items.filter(({ changes }) => changes.length > 0)
      const text = changed.map(({ campaign_id, changes }) => [campaign_id, ...changes].map(printable).join('\n'))
      tell(session, { items }, text.length > 0 ? text.join('\n\n') : 'No differences.')
      if (changed.length > 0) throw new Ended(exit.failure)
    }
  )
}

function declareGet(campaigns: Resource): void {
  campaigns.verb<{ at?: number }>(
    {
      usage: 'get <campaign>',
      about: 'Print a campaign as a file',
      examples: ['tidings campaign get welcome > welcome.yaml', 'tidings campaign get welcome --json'],
      options: (get) => get.option('--at <version>', 'An earlier version', wholeNumber(1, 999_999_999))
    },
    async (session, { at }, id: string) => {
      const path = campaigns.at(session, id)
      const { stringify } = await import('yaml')
      if (at !== undefined) {
        const old = await session.client.json<CampaignVersion>('GET', `${path}/versions/${at}`)
        return tell(session, old, asFile(stringify, old.campaign))
      }
      const campaign = await session.client.json<Campaign>('GET', path)
      tell(session, campaign, asFile(stringify, definitionOf(campaign)))
      if (session.json) return
      const clock = campaign.schedule?.timezone === 'user' ? ', by the clock of each user' : ''
      if (campaign.next_at?.length) remark(session.shell, `Next: ${campaign.next_at.join(', ')}${clock}`)
      for (const { step, variant } of campaign.winners ?? [])
        remark(session.shell, `Winner${step ? ` of the step ${printable(step)}` : ''}: ${printable(variant)}`)
      for (const warning of campaign.warnings) remark(session.shell, warning)
    }
  )
}

function declareArchive(campaigns: Resource): void {
  campaigns.verb(
    {
      usage: 'archive <campaign>',
      about: 'Archive a campaign: nothing starts it any more',
      examples: ['tidings campaign archive welcome'],
      more: 'Its history stays. `tidings campaign apply` or `activate` brings it back.'
    },
    async (session, _, id: string) => {
      const saved = await session.client.json<SavedCampaign>('DELETE', campaigns.at(session, id))
      tell(session, saved, `Archived ${printable(id)}, version ${saved.version}.`)
    }
  )
}

function declareWinner(campaigns: Resource): void {
  campaigns.verb<{ step?: string }>(
    {
      usage: 'choose-winner <campaign> [variant]',
      about: 'Send everyone one variant of a campaign from now on',
      examples: ['tidings campaign choose-winner sale short', 'tidings campaign choose-winner sale'],
      more: 'Without a variant it takes the choice back: all variants are sent again.',
      options: (choose) => choose.option('--step <step>', 'The step that has these variants')
    },
    async (session, { step }, id: string, variant?: string) => {
      const body = { variant: variant ?? null, ...(step !== undefined && { step }) }
      const path = campaigns.at(session, id, ':choose-winner')
      const chosen = await session.client.json<{ winners: object[] }>('POST', path, { body })
      const text = variant === undefined ? 'sends all its variants' : `sends everyone ${printable(variant)}`
      tell(session, chosen, `${printable(id)} ${text}.`)
    }
  )
}

function declareStatus(campaigns: Resource, verb: string, status: string, about: string, more = ''): void {
  campaigns.verb(
    { usage: `${verb} <campaign>`, about, examples: [`tidings campaign ${verb} welcome`], more },
    async (session, _, id: string) => {
      const path = campaigns.at(session, id)
      const campaign = await session.client.json<Campaign>('GET', path)
      const saved = await session.client.json<SavedCampaign>('PUT', path, {
        body: { ...definitionOf(campaign), status },
        // Refused if the campaign was saved in between, so that no other change is undone.
        headers: { 'if-match': `"${campaign.version}"` }
      })
      const running = status === 'active' ? 0 : await runningOf(session, id)
      tell(session, saved, `${printable(id)} is ${saved.status}, version ${saved.version}.`)
      if (running > 0 && !session.json)
        remark(
          session.shell,
          `${counted(running, 'trigger is', 'triggers are')} still running. \`tidings trigger list\` shows them, \`tidings trigger cancel\` stops one.`
        )
    }
  )
}

async function runningOf(session: Session, id: string): Promise<number> {
  const query = { campaign_id: id, state: 'running' }
  return (await readAll(session, inProject(session, '/triggers'), { limit: 200 }, query)).items.length
}

const added = new Set(['version', 'created_at', 'updated_at', 'warnings', 'winners', 'next_at'])

/** A campaign as a file has it, without the fields that the service adds. */
function definitionOf(campaign: Campaign): Record<string, unknown> {
  return Object.fromEntries(Object.entries(campaign).filter(([name]) => !added.has(name)))
}

/** The order in which people write a campaign: what it is first, then what it says. */
const order = [
  ...['campaign_id', 'name', 'type', 'status', 'segment', 'default_audience', 'message', 'live_activity'],
  ...['attribute', 'event', 'operator', 'title', 'body']
]
const rank = (name: unknown) => (order.includes(String(name)) ? order.indexOf(String(name)) : order.length)

function asFile(stringify: typeof import('yaml').stringify, campaign: Record<string, unknown>): string {
  const byRank = (one: { key: unknown }, two: { key: unknown }) => rank(one.key) - rank(two.key)
  // Without a line width: a line break inside a template would show in the message.
  return stringify(campaign, { lineWidth: 0, sortMapEntries: byRank }).trimEnd()
}

async function found<Item>({ client }: Session, path: string): Promise<Item | undefined> {
  try {
    return await client.json<Item>('GET', path)
  } catch (error) {
    if (error instanceof Failure && error.exitCode === exit.notFound) return undefined
    throw error
  }
}
