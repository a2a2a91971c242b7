import { chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cluster } from './cluster.ts'
import { ownerOf } from './identity.ts'

/**
 * The folder in that of PostgreSQL into which it copies each segment of its WAL. PostgreSQL may be another user who
 * cannot enter the archive, so this process carries the segments there (src/platform/archive).
 */
export const spool = 'wal_out'
/** A file in it: PostgreSQL ran without an archive, so the segments of before and after do not join. */
export const gap = '.gap'
/** The same for a recovery, in which PostgreSQL reads segments. */
export const source = 'wal_in'

/** A segment is closed after this many seconds, if anything was written: what may be lost with the disk. */
const closeAfterSeconds = 60

/** Settings of the command line. A segment must be on the disk before PostgreSQL forgets it. */
export const archivingSettings = ({ archives, recovery }: Pick<Cluster, 'archives' | 'recovery'>): string[] => [
  ...(archives
    ? [
        'archive_mode=on',
        `archive_timeout=${closeAfterSeconds}`,
        `archive_command=cp %p ${spool}/%f.part && sync ${spool}/%f.part && mv ${spool}/%f.part ${spool}/%f && sync ${spool}`
      ]
    : []),
  ...(recovery
    ? [
        `restore_command=cp ${source}/%f %p`,
        'recovery_target_action=promote',
        // It takes connections when the moment is reached, not before.
        'hot_standby=off',
        // At a moment, the database was on the timeline of the base before it, whichever was restored later.
        ...(recovery.at
          ? [
              `recovery_target_time=${recovery.at.toISOString().replace('Z', '+00')}`,
              'recovery_target_timeline=current'
            ]
          : [])
      ]
    : [])
]

export async function makeSpool({ folder, identity, archives }: Cluster): Promise<void> {
  // Without a spool, no archive was kept before.
  if (!archives) return writeFile(join(folder, spool, gap), '').catch(() => {})
  const made = await mkdir(join(folder, spool), { recursive: true, mode: 0o700 })
  const { uid, gid } = ownerOf(identity)
  if (made) await chown(made, uid, gid)
}
