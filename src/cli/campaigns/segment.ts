import type { Command } from 'commander'
import type { ListedSegment, SavedSegment, SegmentCount, SegmentSize, ShownSegment } from '../../wire.ts'
import { Ended, exit, Failure } from '../exit.ts'
import { amount, printable, record, table, time } from '../output.ts'
import { type Resource, resource } from '../resource.ts'
import { examples, type Session, tell } from '../session.ts'
import { print, remark, type Shell } from '../shell.ts'
import type { FiledCampaign } from './files.ts'
import { several } from './trigger-request.ts'

export function declare(command: Command, shell: Shell): void {
  examples(
    command,
    ['tidings segment apply -f spenders.yaml', 'tidings segment size big-spenders', 'tidings segment list'],
    'A campaign uses a saved segment by its id: `segment: {ref: big-spenders}`.'
  )
  const segments = resource(command, shell, { name: 'segment', path: '/segments' })
  segments.list<ListedSegment>({
    about: 'List saved segments',
    examples: ['tidings segment list', 'tidings segment list --json'],
    columns: [
      ['segment', (one) => one.segment_id],
      ['name', ({ name }) => name],
      ['version', ({ version }) => version],
      ['updated', (one) => time(one.updated_at)]
    ],
    none: 'No saved segments yet. Save one with `tidings segment apply -f <file>`.'
  })
  declareShow(segments)
  declareApply(segments)
  segments.remove({
    usage: 'delete <segment>',
    about: 'Delete a saved segment that no campaign uses',
    examples: ['tidings segment delete big-spenders'],
    done: 'deleted'
  })
  declareSize(segments)
}

function declareShow(segments: Resource): void {
  segments.verb(
    {
      usage: 'show <segment>',
      about: 'Print a saved segment as a file, and the campaigns that use it',
      examples: ['tidings segment show big-spenders > spenders.yaml', 'tidings segment show big-spenders --json']
    },
    async (session, _, id: string) => {
      const found = await session.client.json<ShownSegment>('GET', segments.at(session, id))
      const { stringify } = await import('yaml')
      const { segment_id, name, segment, campaigns } = found
      tell(session, found, stringify({ segment_id, name, segment }, { lineWidth: 0 }).trimEnd())
      if (!session.json && campaigns.length > 0)
        remark(session.shell, `Used by ${campaigns.map(printable).join(', ')}.`)
    }
  )
}

function declareApply(segments: Resource): void {
  segments.verb<{ file: string[] }>(
    {
      usage: 'apply',
      about: 'Save the segments of files; campaigns that use a changed one get a new version',
      examples: ['tidings segment apply -f spenders.yaml'],
      more: 'A file has segment_id, name and segment. It can be applied again safely. Ends with 1 if a segment was refused.',
      options: (apply) =>
        apply.requiredOption(
          '-f, --file <file>',
          'YAML or JSON, one or several documents, or a folder of such files; - is standard input',
          several
        )
    },
    async (session, { file }) => {
      const { readCampaigns, segmentKind } = await import('./files.ts')
      const filed = await readCampaigns(session.shell, file, segmentKind)
      const items: object[] = []
      for (const one of filed) items.push(await apply(segments, session, one))
      if (session.json) tell(session, { items }, '')
      if (items.some((item) => 'error' in item)) throw new Ended(exit.failure)
    }
  )
}

/** Saves one segment. One that is refused is reported and does not stop the others. */
async function apply(segments: Resource, session: Session, filed: FiledCampaign): Promise<object> {
  const { withPlaces } = await import('./files.ts')
  const { segment_id: id, ...body } = filed.campaign as { segment_id: string }
  try {
    const saved = await withPlaces(filed, () =>
      session.client.json<SavedSegment>('PUT', segments.at(session, id), { body })
    )
    const used =
      saved.result === 'updated' && saved.campaigns.length > 0 ? `; used by ${saved.campaigns.join(', ')}` : ''
    if (!session.json) print(session.shell, printable(`${id} ${saved.result}, version ${saved.version}${used}`))
    return saved
  } catch (error) {
    if (!(error instanceof Failure) || error.details.length === 0) throw error
    remark(session.shell, error.message)
    return { segment_id: id, error: error.message, code: error.code, details: error.details }
  }
}

function declareSize(segments: Resource): void {
  segments.verb<{ history?: true }>(
    {
      usage: 'size <segment>',
      about: 'Count a saved segment now, or show its size over time',
      examples: ['tidings segment size big-spenders', 'tidings segment size big-spenders --history'],
      options: (size) => size.option('--history', 'The sizes of the last 50 days, counted once a day')
    },
    async (session, { history }, id: string) => {
      if (!history) {
        const size = await session.client.json<SegmentCount>('POST', segments.at(session, id, ':count'), {
          repeatable: true
        })
        return tell(session, size, shownSize(size))
      }
      const path = segments.at(session, id, '/sizes')
      const page = await session.client.json<{ items: SegmentSize[] }>('GET', path)
      const rows = page.items.map((one) => [
        one.day,
        amount(one.users),
        amount(one.reachable_users),
        amount(one.devices),
        one.complete ? '' : 'at least'
      ])
      const text = rows.length > 0 ? table(['day', 'users', 'reachable', 'devices', ''], rows) : 'Not counted yet.'
      tell(session, page, text)
    }
  )
}

function shownSize({ users, reachable_users, devices, complete, reason, visited, about }: SegmentCount): string {
  const least = complete ? '' : 'at least '
  return record([
    ['Users', `${least}${amount(users)}`],
    ['Reachable', `${least}${amount(reachable_users)}`],
    ['Devices', `${least}${amount(devices)}`],
    ...(visited === undefined
      ? []
      : [['Counted', `${amount(visited)}${about ? ` of about ${amount(about)}` : ''}`] as const]),
    ...(reason === null ? [] : [['Reason', reason] as const])
  ])
}
