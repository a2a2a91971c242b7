import type { Command } from 'commander'
import type { Campaign, SavedCampaign } from '../../wire.ts'
import { Ended, exit, Failure } from '../exit.ts'
import { readAll } from '../listing.ts'
import { counted, printable } from '../output.ts'
import type { Resource } from '../resource.ts'
import { choice, examples, jsonOption, type Session, tell } from '../session.ts'
import { print, printJson, remark, type Shell } from '../shell.ts'
import type { FiledCampaign } from './files.ts'
import { several } from './trigger-request.ts'

// The verbs that exchange campaigns with files. Together they keep campaigns in a repository.

const withFile = (command: Command) =>
  command.requiredOption(
    '-f, --file <file>',
    'YAML or JSON, one or several documents, or a folder of such files; - is standard input',
    several
  )

/** Reads all files before anything is saved. */
const campaignsOf = async (shell: Shell, paths: readonly string[]): Promise<FiledCampaign[]> =>
  (await import('./files.ts')).readCampaigns(shell, paths)

export function declareApply(campaigns: Resource): void {
  campaigns.verb<{ file: string[] }>(
    {
      usage: 'apply',
      about: 'Save the campaigns of files; unchanged ones stay as they are',
      examples: ['tidings campaign apply -f welcome.yaml', 'tidings campaign apply -f campaigns -p shop'],
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

export function declareDiff(campaigns: Resource): void {
  campaigns.verb<{ file: string[]; all?: true }>(
    {
      usage: 'diff',
      about: 'Show what applying files would change',
      examples: ['tidings campaign diff -f welcome.yaml', 'tidings campaign diff -f campaigns --all'],
      more: `Ends with 1 if there is a difference, with 0 if not. A line with - is what the
service has, a line with + what the file has.`,
      options: (diff) =>
        withFile(diff).option('--all', 'Also name campaigns that no file has; each counts as a difference')
    },
    async (session, { file, all }) => {
      const [{ withPlaces }, { differences }, { definitionOf }] = await Promise.all([
        import('./files.ts'),
        import('./diff.ts'),
        import('./written.ts')
      ])
      const items: { campaign_id: string; changes: string[] }[] = []
      const filed = await campaignsOf(session.shell, file)
      for (const one of filed) {
        const stored = await found<Campaign>(session, campaigns.at(session, one.id))
        const changes = await withPlaces(one, () =>
          differences(stored && definitionOf(stored), { ...one.campaign, campaign_id: one.id })
        )
        items.push({ campaign_id: one.id, changes })
      }
      const known = new Set(filed.map(({ id }) => id))
      for (const { campaign_id, status } of all ? await allOf(campaigns, session) : [])
        if (!known.has(campaign_id) && status !== 'archived')
          items.push({ campaign_id, changes: ['- only in the service'] })
      const changed = items.filter(({ changes }) => changes.length > 0)
      const text = changed.map(({ campaign_id, changes }) => [campaign_id, ...changes].map(printable).join('\n'))
      tell(session, { items }, text.length > 0 ? text.join('\n\n') : 'No differences.')
      if (changed.length > 0) throw new Ended(exit.failure)
    }
  )
}

export function declarePull(campaigns: Resource): void {
  campaigns.verb<{ to: string; schema: boolean }>(
    {
      usage: 'pull [campaigns...]',
      about: 'Write campaigns to the files of a folder',
      examples: ['tidings campaign pull --to campaigns', 'tidings campaign pull welcome sale --to campaigns'],
      more: `Writes all campaigns, or those that you name. A campaign that a file of the
folder has stays there, with its comments; the others get a file each. A file
is left alone if its campaign is the same. Archived campaigns are written only
if you name them, or if a file has them.`,
      options: (pull) =>
        pull
          .requiredOption('--to <folder>', 'The folder; it is made if it does not exist')
          .option('--no-schema', 'Leave out campaign.schema.json, by which editors check the files')
    },
    async (session, { to, schema }, ids: string[]) => {
      const { pull } = await import('./pull.ts')
      const whole = ids.length === 0
      const stored = whole
        ? await allOf(campaigns, session)
        : await Promise.all(ids.map((id) => session.client.json<Campaign>('GET', campaigns.at(session, id))))
      const items = await pull(session.shell, to, stored, { withSchema: schema, whole })
      const words = { created: 'created', updated: 'updated', only_in_folder: 'only in the folder' }
      const lines = items.flatMap(({ campaign_id, file, result }) =>
        result === 'unchanged' ? [] : [printable(`${file}: ${campaign_id} ${words[result]}`)]
      )
      const same = items.filter(({ result }) => result === 'unchanged').length
      tell(session, { items }, [...lines, `${counted(same, 'campaign')} unchanged.`].join('\n'))
    }
  )
}

/** All campaigns by their ids, so that every run writes them in the same order. */
async function allOf(campaigns: Resource, session: Session): Promise<Campaign[]> {
  const everything = { limit: Number.POSITIVE_INFINITY }
  const { items } = await readAll<Campaign>(session, campaigns.at(session), everything)
  return items.sort((one, two) => (one.campaign_id < two.campaign_id ? -1 : 1))
}

interface LintOptions {
  file: string[]
  format?: 'text' | 'github' | 'gitlab'
  strict?: true
  json?: true
}

/** Neither of these needs a service, so a check of a change needs no secrets. */
export function declareLint(parent: Command, shell: Shell): void {
  const command = withFile(parent.command('lint').description('Check the campaigns of files without a service'))
    .addOption(choice('--format <format>', 'text (default), github or gitlab', ['text', 'github', 'gitlab']))
    .option('--strict', 'Warnings count as errors')
    .addOption(jsonOption())
  examples(
    command,
    ['tidings campaign lint -f campaigns', 'tidings campaign lint -f campaigns -f segments --strict'],
    `Makes the checks that saving makes: fields, templates, segments, schedules. The
service alone can check patterns of \`matches\`, and that topics exist. Saved
segments that campaigns refer to are looked up if their files are given too.
--format github prints commands that mark lines in a pull request, gitlab a
Code Quality report. Ends with 1 if there is an error, with 0 if not.`
  )
  command.action(async ({ file, format, strict, json }: LintOptions) => {
    const { asGithub, asGitlab, asText, lint } = await import('./lint.ts')
    const found = await lint(shell, file)
    const { problems } = found
    if (json) printJson(shell, found)
    else if (format === 'gitlab') print(shell, asGitlab(problems))
    else for (const one of problems) print(shell, printable((format === 'github' ? asGithub : asText)(one)))
    const errors = problems.filter(({ severity }) => severity === 'error').length
    const kinds = [
      counted(found.campaigns, 'campaign'),
      ...(found.segments > 0 ? [counted(found.segments, 'saved segment')] : [])
    ]
    const result =
      problems.length === 0
        ? 'no problems'
        : `${counted(errors, 'error')}, ${counted(problems.length - errors, 'warning')}`
    if (!json) remark(shell, `${kinds.join(' and ')} in ${counted(found.files, 'file')}: ${result}.`)
    if (errors > 0 || (strict && problems.length > 0)) throw new Ended(exit.failure)
  })
  examples(
    parent
      .command('schema')
      .description('Print the JSON Schema of campaign files, for editors')
      .action(async () => {
        const { printCampaignSchema } = await import('../../campaigns/definition/file-schema.ts')
        shell.stdout.write(printCampaignSchema())
      }),
    ['tidings campaign schema > campaigns/campaign.schema.json'],
    'A YAML file names it in its first line: # yaml-language-server: $schema=campaign.schema.json'
  )
}

async function found<Item>({ client }: Session, path: string): Promise<Item | undefined> {
  try {
    return await client.json<Item>('GET', path)
  } catch (error) {
    if (error instanceof Failure && error.exitCode === exit.notFound) return undefined
    throw error
  }
}
