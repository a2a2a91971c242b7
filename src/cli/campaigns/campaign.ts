import type { Command } from 'commander'
import type { Campaign, CampaignVersion, SavedCampaign } from '../../wire.ts'
import { readAll } from '../listing.ts'
import { counted, printable, time } from '../output.ts'
import { type Resource, resource } from '../resource.ts'
import { choice, examples, inProject, type Session, tell, wholeNumber } from '../session.ts'
import { remark, type Shell } from '../shell.ts'
import { declareApply, declareDiff, declareLint, declarePull } from './filing.ts'
import { declareJourneys } from './journeys.ts'
import { declarePreview, declareTest, declareTrigger } from './sending.ts'
import { declareStats } from './stats.ts'
import { declareTexts } from './texts.ts'

const statuses = ['draft', 'active', 'paused', 'archived']

export function declare(command: Command, shell: Shell): void {
  examples(command, [
    'tidings campaign apply -f welcome.yaml',
    'tidings campaign trigger welcome --user ana --watch',
    'tidings campaign list'
  ])
  const campaigns = resource(command, shell, { name: 'campaign', path: '/campaigns' })
  declareLint(command, shell)
  declareDiff(campaigns)
  declareApply(campaigns)
  declarePull(campaigns)
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
      const { asYaml, definitionOf } = await import('./written.ts')
      if (at !== undefined) {
        const old = await session.client.json<CampaignVersion>('GET', `${path}/versions/${at}`)
        return tell(session, old, asYaml(old.campaign).trimEnd())
      }
      const campaign = await session.client.json<Campaign>('GET', path)
      tell(session, campaign, asYaml(definitionOf(campaign)).trimEnd())
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
      const { definitionOf } = await import('./written.ts')
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
