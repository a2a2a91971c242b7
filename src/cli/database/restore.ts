import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Command } from 'commander'
import type { Frame, Header } from '../../platform/backup/format.ts'
import { type Config, readConfig } from '../../platform/config/config.ts'
import type { Db } from '../../platform/db/db.ts'
import { confirm } from '../confirm.ts'
import { exit, Failure, usageFailure } from '../exit.ts'
import { counted } from '../output.ts'
import { examples, jsonOption, tell } from '../session.ts'
import type { Shell } from '../shell.ts'
import { explained, showRows } from './backup.ts'
import { openSource } from './backup-file.ts'
import { type OnDatabase, onDatabase, refuseWhileNodesRun } from './database.ts'

interface Options {
  at?: string
  check?: true
  replace?: true
  keyLost?: true
  yes?: true
  json?: true
}

export function declare(command: Command, shell: Shell): void {
  command
    .argument('<file>', 'A file of `tidings backup`, - for standard input, or the folder ARCHIVE_DIR')
    .option('--at <time>', 'From a folder: the moment to restore, such as 2026-11-16T21:30:00Z; else its end')
    .option('--check', 'Only read the file and check that it is whole; needs no database')
    .option('--replace', 'Remove the installation that is in the database now')
    .option('--key-lost', 'Restore without the master key, whose secrets are then lost')
    .option('--yes', 'Do not ask before --replace')
    .addOption(jsonOption())
  examples(
    command,
    [
      'tidings restore tidings.backup',
      'tidings restore --check tidings.backup',
      'tidings restore /mnt/archive --at 2026-11-16T21:30:00Z'
    ],
    `Restores into the database of the settings, which must be empty: the embedded
one in a new DATA_DIR, or DATABASE_URL. Put the master key there first (the file
master.key of the old DATA_DIR, or MASTER_KEY). A restore that fails or is cut
off leaves nothing behind. The restored installation is paused, so that nothing
is sent a second time: start it, look at it, then run \`tidings resume\`. A
folder is what ARCHIVE_DIR of an embedded database had; it restores any moment
into DATA_DIR, and --replace moves the database that is there aside.`
  )
  command.action(async (file: string, options: Options) => {
    const isFolder = file !== '-' && (await stat(file).catch(() => undefined))?.isDirectory() === true
    if (options.at !== undefined && !isFolder)
      throw usageFailure('--at needs the folder ARCHIVE_DIR: a file of `tidings backup` holds one moment.')
    if (isFolder) {
      const { restoreMoment } = await import('./recover.ts')
      return restoreMoment(shell, file, options, settle)
    }
    if (file === '-' && options.replace && !options.yes)
      throw usageFailure('Standard input carries the backup, so there is no terminal for a confirmation. Give --yes.')
    const { readFrames } = await import('../../platform/backup/format.ts')
    const frames = readFrames(await openSource(shell, file))
    try {
      await (options.check ? check(shell, file, frames, options) : restore(shell, file, frames, options))
    } catch (error) {
      throw explained(error)
    } finally {
      await frames.return().catch(() => {})
    }
  })
}

async function headerOf(frames: AsyncGenerator<Frame, void>): Promise<Header> {
  const { value: first } = await frames.next()
  if (first?.kind !== 'H')
    throw new Failure(exit.failure, 'backup_damaged', 'The backup does not begin with its header.')
  return first.value
}

async function check(shell: Shell, file: string, frames: AsyncGenerator<Frame, void>, { json }: Options) {
  const header = await headerOf(frames)
  const { made_at, version, server, projects, migrations } = header
  const { checkTables } = await import('../../platform/backup/checking.ts')
  const shown = showRows(shell, 'Checking')
  const sums = await checkTables(frames, (rows) => shown.at(rows, header.about_rows)).finally(shown.end)
  const done = { file, made_at, version, server, projects, last_migration: migrations.at(-1) ?? null, ...sums }
  tell(
    { shell, json: json === true },
    done,
    `${file} is whole: ${counted(sums.rows, 'row')} of ${counted(projects, 'project')} as they were at ${made_at}, by Tidings ${version}.`
  )
}

async function restore(shell: Shell, file: string, frames: AsyncGenerator<Frame, void>, options: Options) {
  const config = readConfig(shell.env)
  const header = await headerOf(frames)
  const { migrationsOf } = await import('../../platform/backup/load.ts')
  migrationsOf(header)
  if (!options.keyLost) await checkKey(config, header)
  const done = await onDatabase(shell, config, (database) => load(shell, database, header, frames, options))
  const { made_at, projects } = header
  const value = { file, made_at, projects, ...done }
  tell(
    { shell, json: options.json === true },
    value,
    `Restored ${counted(done.rows, 'row')} of ${counted(projects, 'project')} into the database ${done.database}, as they were at ${made_at}.
The installation is paused: it sends nothing, calls no webhook and runs no job.
Start it, look at it, then continue with: tidings resume, or tidings resume --discard to cancel what waited
People sign in again. Keys and tokens that were revoked after the backup work again: revoke them again.${
      options.keyLost ? '\nNow remove the secrets of the lost master key: tidings secrets forget' : ''
    }`
  )
}

/** Only the key that sealed the secrets of the backup opens them, and no file is made here. */
async function checkKey({ MASTER_KEY, DATA_DIR }: Config, { master_key_check: sealed }: Header): Promise<void> {
  if (sealed === null) return
  const [{ checkName, open, readKeyFile }, { keyFiles }] = await Promise.all([
    import('../../platform/secrets/secrets.ts'),
    import('../../platform/secrets/rotation.ts')
  ])
  const { current } = keyFiles(DATA_DIR)
  const otherwise =
    'Nothing was restored. Copy the file master.key from the DATA_DIR of that installation, or set MASTER_KEY. If the key ' +
    'is lost for good: --key-lost'
  if (!MASTER_KEY && !existsSync(current))
    throw new Failure(
      exit.configuration,
      'master_key_missing',
      `The backup was made with a master key, and ${current} is not there. ${otherwise}`
    )
  const key = MASTER_KEY ?? (await readKeyFile(current))
  try {
    open(key, checkName, sealed)
  } catch {
    const given = MASTER_KEY ? 'MASTER_KEY' : current
    throw new Failure(
      exit.configuration,
      'master_key_wrong',
      `${given} is not the master key of the backup. ${otherwise}`
    )
  }
}

async function load(
  shell: Shell,
  { pool, name, interrupt }: OnDatabase,
  header: Header,
  frames: AsyncGenerator<Frame, void>,
  { replace, yes }: Options
) {
  const [{ loadBackup }, { eventMonths }, { messageMonths }] = await Promise.all([
    import('../../platform/backup/load.ts'),
    import('../../events/events.ts'),
    import('../../messages/messages.ts')
  ])
  const shown = showRows(shell, 'Restoring')
  const agree = async () => {
    await refuseWhileNodesRun(pool, 'since the restore replaces what they work on')
    await confirm(shell, `Type "replace" to remove everything in the database ${name}: `, /^replace$/, yes === true)
  }
  const loaded = await loadBackup({
    pool,
    header,
    frames,
    monthlies: [eventMonths, messageMonths],
    replace: replace ? agree : false,
    settle: (tx) => settle(tx, header),
    progress: shown.at,
    signal: interrupt
  }).finally(shown.end)
  return { database: name, ...loaded }
}

/** What a backup brings back and must not go on as it was. */
async function settle(tx: Db, { made_at }: Pick<Header, 'made_at'>): Promise<void> {
  const [{ writePause }, { endAllSessions, pauseRunningProjects }, { forgetResetLinks }] = await Promise.all([
    import('../../platform/backup/paused.ts'),
    import('../../projects/projects.ts'),
    import('../../members/members.ts')
  ])
  const since = new Date()
  await writePause(tx, { since: since.toISOString(), backup_made_at: made_at })
  await pauseRunningProjects(tx, since)
  await endAllSessions(tx)
  await forgetResetLinks(tx)
}
