import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { listBases } from '../../platform/archive/base.ts'
import { segmentsIn } from '../../platform/archive/segments.ts'
import { spool } from '../../platform/db/embedded/archiving.ts'
import { counted } from '../output.ts'
import { type Finding, ok, warn } from './check.ts'

const name = 'Archive'
/** A service carries segments away within a second or two. */
const fewWaiting = 3
const lateMs = 26 * 3_600_000

/** Checks whether the archive of the embedded database is complete. */
export async function checkArchive(dataDir: string, archive: string): Promise<Finding> {
  const namesIn = (folder: string) => readdir(folder).catch((): string[] => [])
  const waiting = (await namesIn(join(dataDir, 'postgres', spool))).length
  const [bases, segments] = [await listBases(archive), (await namesIn(segmentsIn(archive))).length]
  if (waiting > fewWaiting)
    return warn(
      name,
      `${counted(waiting, 'segment')} of WAL wait in ${dataDir}. Check that ${archive} can be written, and what the service prints.`
    )
  const newest = bases.at(-1)
  if (!newest) return warn(name, `${archive} holds no copy of the database yet. A running service makes one.`)
  if (Date.now() - Date.parse(newest.began_at) > lateMs)
    return warn(name, `the newest copy in ${archive} is of ${newest.ended_at}. A running service makes one each day.`)
  return ok(name, `${archive}, every moment since ${bases[0]!.ended_at} (${counted(segments, 'segment')} of WAL)`)
}
