import type { Command } from 'commander'
import { settings } from '../../platform/config/config.ts'
import { readCredentials } from '../../projects/bootstrap.ts'
import { findKey } from '../connection.ts'
import { usageFailure } from '../exit.ts'
import { table } from '../output.ts'
import { choice, examples, jsonOption } from '../session.ts'
import { remark, type Shell } from '../shell.ts'
import type { Column, Mapping } from './columns.ts'
import type { ImportOptions, Read } from './run.ts'
import type { Service } from './sending.ts'

interface Common extends ImportOptions {
  url?: string
  key?: string
  project?: string
}

const more = `Needs a secret key of the project, and only HTTP to the service: any machine
will do. Reads gzip too; - is standard input. Lines that are not taken, and why,
are written to <file>.import.jsonl. An import that was interrupted goes on where
it stopped when you run it again, and one that is complete can be repeated.
Ends with 1 if a line was not taken.`

export function declare(command: Command, shell: Shell): void {
  examples(
    command,
    [
      'tidings import csv users.csv --dry-run',
      'tidings import csv users.csv.gz',
      'tidings import onesignal export.csv.gz'
    ],
    'The guide docs/guides/moving-in.md goes through a whole move.'
  )
  declareCsv(command, shell)
  declareOneSignal(command, shell)
  declareFirebase(command, shell)
  declareBraze(command, shell)
}

/** Adds the options of every import. */
function importing(parent: Command, usage: string, about: string): Command {
  return parent
    .command(`${usage} <file>`)
    .description(about)
    .option('--dry-run', 'Read and check everything, and send nothing; needs no service')
    .option('--report <file>', 'Where lines that are not taken are written (default: <file>.import.jsonl)')
    .option('--restart', 'Begin anew instead of going on where an interrupted run stopped')
    .option('-p, --project <id>', 'Project (default: TIDINGS_PROJECT)')
    .option('--url <url>', 'Address of the service (default: TIDINGS_URL)')
    .option('--key <key>', 'Secret key of the project (default: TIDINGS_KEY, which other users cannot see)')
    .addOption(jsonOption())
}

interface CsvOptions extends Common {
  map?: Column[]
  infer?: true
  only?: true
  delimiter?: string
}

function declareCsv(parent: Command, shell: Shell): void {
  const command = importing(parent, 'csv', 'Import users, devices and push tokens from a CSV file')
  command
    .option(
      '--map <column=field>',
      'What a column becomes, such as "Age=properties.age:number"; may be repeated',
      lazyMap
    )
    .option('--infer', 'Read numbers, true and false in properties as such; otherwise properties are text')
    .option('--only', 'Leave out columns that --map does not name and whose names are not known')
    .addOption(
      choice('--delimiter <character>', 'The separator of cells, if it is not the likely one', [',', ';', 'tab', '|'])
    )
  examples(
    command,
    [
      'tidings import csv users.csv --dry-run',
      'tidings import csv users.csv --map "Customer=project_user_id" --map "Age=properties.age:number"',
      'zcat tokens.csv.gz | tidings import csv - -p shop'
    ],
    `The first line names the columns: project_user_id, push_token, platform, device_id
and other fields of devices, created_at, last_seen_at, opted_out; their usual other
names are known too. Every other column is a property of the user; name:number,
name:boolean or name:time in the header gives it a type. --dry-run shows what each
column becomes. A line is a user, a device, or both; several lines may be about one
user. An empty cell changes nothing.
${more}`
  )
  command.action(async (file: string, options: CsvOptions) => {
    const [{ csvFormat }, { mapArgument }] = await Promise.all([import('./formats.ts'), import('./columns.ts')])
    const map = ((options.map ?? []) as unknown as string[]).reduce((all, one) => mapArgument(one, all), [] as Column[])
    const { infer, only } = options
    const delimiter = options.delimiter === 'tab' ? '\t' : options.delimiter
    const mapping: Mapping & { delimiter?: string } = {
      map,
      ...(infer && { infer }),
      ...(only && { only }),
      ...(delimiter && { delimiter })
    }
    const show = (columns: Column[]) => {
      const rows = columns.map(({ header, field, type }) => [
        header,
        field,
        field.startsWith('properties.') ? type : ''
      ])
      if (options.dryRun && !options.json) remark(shell, `${table(['column', 'becomes', 'type'], rows)}\n`)
    }
    await start(shell, file, options, ['csv', mapping], csvFormat(mapping, show))
  })
}

function declareOneSignal(parent: Command, shell: Shell): void {
  const command = importing(parent, 'onesignal', 'Import the subscriptions that OneSignal exported as CSV')
  command.option('--infer', 'Read numbers, true and false in tags as such; otherwise tags are text')
  examples(
    command,
    ['tidings import onesignal users.csv.gz --dry-run', 'tidings import onesignal users.csv.gz -p shop'],
    `Export with external_user_id, notification_types, country and timezone_id among the
extra fields. External ids become users, tags become properties, and tokens of iOS
and Android move. Browsers, email addresses and phone numbers cannot be moved; the
report names them.
${more}`
  )
  command.action(async (file: string, options: Common & { infer?: true }) => {
    const [{ tableOf }, { oneSignalTranslator }] = await Promise.all([import('./formats.ts'), import('./onesignal.ts')])
    const infer = options.infer === true
    const read = tableOf((header) => oneSignalTranslator(header, infer) as never)
    await start(shell, file, options, ['onesignal', infer], read)
  })
}

function declareFirebase(parent: Command, shell: Shell): void {
  const command = importing(parent, 'firebase', 'Import the accounts that `firebase auth:export` wrote, CSV or JSON')
  examples(
    command,
    ['tidings import firebase accounts.json --dry-run', 'tidings import firebase accounts.csv -p shop'],
    `Firebase does not export tokens. Export those that your backend has stored as CSV,
with the uid, and import them with \`tidings import csv tokens.csv\`.
${more}`
  )
  command.action(async (file: string, options: Common) => {
    const { firebaseFormat } = await import('./firebase.ts')
    await start(shell, file, options, ['firebase'], firebaseFormat)
  })
}

function declareBraze(parent: Command, shell: Shell): void {
  const command = importing(parent, 'braze', 'Import the profiles that Braze exported: JSON lines, also in a zip')
  command.addOption(
    choice('--nested <way>', 'Lists and objects of custom attributes: leave (default) or text', ['leave', 'text'])
  )
  examples(
    command,
    ['tidings import braze export.zip --dry-run', 'tidings import braze export.zip --nested text -p shop'],
    `Export with POST /users/export/segment and the fields external_id, push_tokens,
devices, custom_attributes, apps, created_at, push_subscribe and those that you
need. Lines are counted over all files of a zip.
${more}`
  )
  command.action(async (file: string, options: Common & { nested?: 'leave' | 'text' }) => {
    const { brazeFormat } = await import('./braze.ts')
    const nested = options.nested ?? 'leave'
    await start(shell, file, options, ['braze', nested], brazeFormat(nested))
  })
}

/** Read when the command runs, because the names of fields need code that a start should not load. */
const lazyMap = (argument: string, before: string[] = []): string[] => [...before, argument]

async function start(shell: Shell, file: string, options: Common, form: unknown, read: Read): Promise<void> {
  const service = options.dryRun ? undefined : await serviceOf(options, shell)
  const { runImport } = await import('./run.ts')
  await runImport({ shell, file, form, read, options, ...(service && { service }) })
}

/** The address, the project and its secret key: from options, else variables, else credentials.json. */
async function serviceOf(options: Common, { env }: Shell): Promise<Service> {
  const { url, key } = await findKey(options, env)
  const named = (options.project ?? env.TIDINGS_PROJECT) || undefined
  const folder = settings.DATA_DIR.parse(env.DATA_DIR || settings.DATA_DIR.fallback!)
  const project = named ?? (await readCredentials(folder)).project_id
  if (!project) throw usageFailure('No project given. Give --project <id>, or set TIDINGS_PROJECT.')
  return { url, key, project }
}
