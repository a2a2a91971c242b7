import type { Migration } from '../../platform/db/migrations.ts'
import { type Finding, fail, ok, warn } from '../doctor/check.ts'
import type { Applied } from '../doctor/store.ts'
import { amount, bytes, counted } from '../output.ts'
import { type Change, changesOf } from './changes.ts'
import type { KnownNode, TableSize } from './store.ts'

/** A careful guess: a disk and a processor that also serve requests read a table at this rate, for an index or a check. */
const bytesPerSecond = 30e6
/** Requests wait that long for a connection before they get 503. */
const longSeconds = 3

export interface Schema {
  known: Migration[]
  applied: Applied[]
  sizes: Map<string, TableSize>
  nodes: KnownNode[]
}

/** What the migrations of this version would do, and whether other nodes may run meanwhile. */
export function checkPending({ known, applied, sizes, nodes }: Schema): Finding[] {
  const pending = known.filter(({ id }) => !applied.some((row) => row.id === id))
  const newer = applied.filter(({ id }) => !known.some((migration) => migration.id === id))
  if (newer.length > 0) return [checkNewer(newer)]
  if (pending.length === 0) return [ok('Migrations', `all ${applied.length} are applied; this version changes nothing`)]
  const findings = pending.map((migration) => checkOne(migration, sizes))
  const alone = pending.filter(({ beside }) => !beside)
  if (alone.length === 0) return [...findings, ok('Older nodes', 'can run beside the new ones until you restart them')]
  const names = alone.map(({ name }) => name).join(', ')
  const text = `cannot run beside ${names}. Stop all nodes, then start the new version.`
  return [...findings, nodes.length > 0 ? fail('Older nodes', text) : warn('Older nodes', `${text} None runs now.`)]
}

function checkNewer(newer: Applied[]): Finding {
  const names = newer.map(({ name }) => name).join(', ')
  return newer.every(({ beside }) => beside)
    ? ok('Migrations', `the database is newer than this version (${names}), and this version can run on it`)
    : fail(
        'Migrations',
        `the database is newer than this version (${names}), which cannot run on it. Restore a backup.`
      )
}

function checkOne(migration: Migration, sizes: Map<string, TableSize>): Finding {
  const changes = changesOf(migration).map((change) => ({ change, ...cost(change, sizes) }))
  const message = `${migration.name}: ${changes.map(({ change, text }) => `${change.does}${text}`).join('; ')}`
  return changes.some(({ seconds }) => seconds > longSeconds)
    ? warn('Migrations', `${message}. Do it in a quiet hour.`)
    : ok('Migrations', message)
}

/** The time that others wait for a change, by the size of its table. */
function cost({ table, waiting }: Change, sizes: Map<string, TableSize>): { seconds: number; text: string } {
  const size = table === undefined ? undefined : sizes.get(table)
  if (!size || waiting === 'none') return { seconds: 0, text: '' }
  const about = `${counted(Math.round(size.rows), 'row')}, ${bytes(size.bytes)}`
  if (waiting === 'brief') return { seconds: 0, text: ` (${about}; locked for a moment)` }
  const seconds = Math.ceil(size.bytes / bytesPerSecond)
  const others = waiting === 'writes' ? 'its writes wait' : 'all requests on it wait'
  return { seconds, text: ` (${about}; ${others} for about ${amount(seconds)} s)` }
}
