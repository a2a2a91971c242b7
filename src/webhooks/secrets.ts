import type { Db } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { ProjectId } from '../platform/ids.ts'
import { sealedColumn } from '../platform/secrets/sealed.ts'
import { open, seal } from '../platform/secrets/secrets.ts'
import { addSecret, findSecret, lockSecret, removeSecret, replaceSecret, type SecretRow } from './secret-store.ts'
import { newSecret } from './signing.ts'

/** The owner of a secret: a webhook, by its id, or the project, whose secret signs all other calls. */
export type Owner = string
export const projectOwner: Owner = 'project'

/** The most secrets that sign at a time. Each adds a signature to every call. */
const mostSecrets = 5

/** A secret that another one replaced. It signs until its end, so that a receiver can be changed without losing a call. */
interface Replaced {
  secret: string
  /** In milliseconds since 1970. */
  until: number
}

interface Rotated {
  /** The new one, shown this once. */
  secret: string
  /** The end of the one that it replaced; absent: there was none. */
  previous_until?: Date
}

/** Bound to its row: a secret copied to another project's row does not open there. */
const contextOf = (projectId: string, owner: Owner) => `webhook_secret:${projectId}:${owner}`

for (const column of ['sealed', 'previous', 'replaced']) {
  sealedColumn({
    table: 'webhook_secrets',
    column,
    by: ['project_id', 'owner'],
    context: ({ project_id, owner }) => contextOf(project_id!, owner!)
  })
}

/** `now` is the clock of tests. */
export function createSecrets(key: Buffer, now: () => number = Date.now) {
  const sealed = (projectId: ProjectId, owner: Owner, text: string) => seal(key, contextOf(projectId, owner), text)

  /** The current secret of a row, and the replaced ones that still sign, newest first. */
  function read(projectId: ProjectId, owner: Owner, row: SecretRow): { secret: string; replaced: Replaced[] } {
    const opened = (text: string) => open(key, contextOf(projectId, owner), text)
    const listed: Replaced[] = row.replaced === null ? [] : JSON.parse(opened(row.replaced))
    const previous =
      row.previous === null ? [] : [{ secret: opened(row.previous), until: row.previous_until!.getTime() }]
    // Only a rotation by a node of an earlier version leaves one that is not listed.
    const unlisted = previous.filter(({ secret }) => listed.every((one) => one.secret !== secret))
    const at = now()
    return { secret: opened(row.sealed), replaced: [...unlisted, ...listed].filter(({ until }) => until > at) }
  }

  /** The secrets that sign now, the current one first. Empty if there is none. */
  async function current(db: Db, projectId: ProjectId, owner: Owner): Promise<string[]> {
    const row = await findSecret(db, projectId, owner)
    if (!row) return []
    const { secret, replaced } = read(projectId, owner, row)
    return [secret, ...replaced.map((one) => one.secret)]
  }

  async function ensure(db: Db, projectId: ProjectId, owner: Owner): Promise<string[]> {
    const known = await current(db, projectId, owner)
    if (known.length > 0) return known
    // Of two simultaneous inserts one wins, and both callers read that one.
    await addSecret(db, projectId, owner, sealed(projectId, owner, newSecret()), new Date(now()))
    return current(db, projectId, owner)
  }

  /**
   * Makes a new secret. The one that it replaces signs for the overlap, and those replaced before keep their ends, as
   * their receivers were promised. An overlap of 0 ends them all, because any of them may have leaked.
   */
  async function rotate(tx: Db, projectId: ProjectId, owner: Owner, overlapMs: number): Promise<Rotated> {
    const at = now()
    const secret = newSecret()
    const fresh = sealed(projectId, owner, secret)
    if (await addSecret(tx, projectId, owner, fresh, new Date(at))) return { secret }
    // Locked: of two simultaneous rotations each keeps the secret that it replaces.
    const row = await lockSecret(tx, projectId, owner)
    if (!row) throw new Refusal('not_found', 'There is no such project.')
    const before = read(projectId, owner, row)
    const previous_until = new Date(at + overlapMs)
    const replaced =
      overlapMs === 0 ? [] : [{ secret: before.secret, until: previous_until.getTime() }, ...before.replaced]
    if (replaced.length >= mostSecrets) throw tooMany(before.replaced)
    const [previous] = replaced
    const changed: SecretRow = {
      sealed: fresh,
      previous: previous ? row.sealed : null,
      previous_until: previous ? previous_until : null,
      replaced: previous ? sealed(projectId, owner, JSON.stringify(replaced)) : null
    }
    await replaceSecret(tx, projectId, owner, changed, new Date(at))
    return { secret, previous_until }
  }

  return { current, ensure, rotate, remove: removeSecret }
}

/** Ending the oldest one instead would cut off the receiver that still has it. */
function tooMany(replaced: readonly Replaced[]): Refusal {
  const first = new Date(Math.min(...replaced.map(({ until }) => until))).toISOString()
  return new Refusal(
    'conflict',
    `${mostSecrets} secrets sign these calls, the most at a time. The first of them ends at ${first}: rotate again then, ` +
      'or with the overlap 0s, which ends all of them now.'
  )
}

export type Secrets = ReturnType<typeof createSecrets>
