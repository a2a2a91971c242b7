import { readConfig } from '../../platform/config/config.ts'
import type { Db } from '../../platform/db/db.ts'
import { instantText } from '../../platform/time.ts'
import { confirm } from '../confirm.ts'
import { exit, Failure, usageFailure } from '../exit.ts'
import { counted } from '../output.ts'
import { tell } from '../session.ts'
import { interruption, remark, type Shell } from '../shell.ts'

interface Options {
  at?: string
  check?: true
  replace?: true
  keyLost?: true
  yes?: true
  json?: true
}

/** Restores the embedded database from the folder of ARCHIVE_DIR, as it was at a moment. */
export async function restoreMoment(
  shell: Shell,
  archive: string,
  { at: given, check, replace, keyLost, yes, json }: Options,
  settle: (tx: Db, backup: { made_at: string }) => Promise<void>
): Promise<void> {
  if (check || keyLost) throw usageFailure('--check and --key-lost are for a file of `tidings backup`.')
  const config = readConfig({ ...shell.env, ARCHIVE_DIR: undefined })
  if (config.DATABASE_URL)
    throw new Failure(
      exit.configuration,
      'not_embedded',
      'An archive restores the embedded database. Leave DATABASE_URL unset; `tidings copy` moves it from there.'
    )
  const at = momentOf(given)
  const { chooseBase, recover } = await import('../../platform/archive/recovery.ts')
  await chooseBase(archive, at)
  if (replace)
    await confirm(shell, `Type "replace" to move the database in ${config.DATA_DIR} aside: `, /^replace$/, yes === true)
  const say = (line: string) => remark(shell, line)
  const { base, segments, aside } = await recover({
    archive,
    dataDir: config.DATA_DIR,
    at,
    replace: replace === true,
    say,
    finish: (url) => onServer(url, (tx) => settle(tx, { made_at: (at ?? new Date()).toISOString() })),
    signal: interruption(shell)
  })
  const made = at?.toISOString() ?? 'the end of the archive'
  const done = { archive, at: at?.toISOString() ?? null, base: base.name, segments, aside: aside ?? null }
  tell(
    { shell, json: json === true },
    done,
    `Restored the database in ${config.DATA_DIR} as it was at ${made}: a copy of ${base.ended_at} and ${counted(segments, 'segment')} of WAL.${
      aside ? `\nThe former database is in ${aside}: remove it when you no longer need it.` : ''
    }
The installation is paused: it sends nothing, calls no webhook and runs no job.
Start it with the same master key, look at it, then continue with: tidings resume, or tidings resume --discard to cancel what waited`
  )
}

function momentOf(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const instant = instantText(text)
  if (instant === undefined)
    throw usageFailure('--at must be a time in ISO 8601, such as 2026-11-16T21:30:00Z; in UTC unless it has an offset.')
  const at = new Date(instant)
  if (at.getTime() > Date.now()) throw usageFailure('--at lies in the future.')
  return at
}

async function onServer(url: string, work: (tx: Db) => Promise<void>): Promise<void> {
  const [{ openPool }, { createLog }] = await Promise.all([
    import('../../platform/db/db.ts'),
    import('../../platform/log.ts')
  ])
  const pool = openPool({ connectionString: url }, await createLog('silent'), 2)
  await pool.transaction(work).finally(() => pool.close())
}
