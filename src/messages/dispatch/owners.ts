import type { Db, Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { livingNodes } from '../../platform/nodes/nodes.ts'
import type { Recovery } from '../journal/recovery.ts'
import type { MessageRow } from '../message.ts'
import type { Following } from './following.ts'

/** Open rows, by the process that owns them. */
export interface ByOwner {
  /** Followed by this process. */
  followed: MessageRow[]
  /** Owned by another process that is alive, or may be: it follows them, and no other process touches them. */
  others: MessageRow[]
  /** Owned by no process, by a dead one, or by this one without a run that follows them. */
  free: MessageRow[]
}

export interface OwnersOptions {
  pool: Pool
  nodeId: string
  /** Settles what dead nodes noted on this machine, before their rows are taken. */
  recovery: Recovery | undefined
  following: Following
}

/** Tells which process may dispatch a row. */
export class Owners {
  readonly #pool: Pool
  readonly #nodeId: string
  readonly #recovery: Recovery | undefined
  readonly #following: Following

  constructor({ pool, nodeId, recovery, following }: OwnersOptions) {
    this.#pool = pool
    this.#nodeId = nodeId
    this.#recovery = recovery
    this.#following = following
  }

  /**
   * The nodes that may be alive, read only if another process owns some of the rows. In a transaction of the caller (`db`)
   * no journal is read: `dispatch` reads it before it takes the rows.
   */
  async living(rows: MessageRow[], deadOwner: string | undefined, db?: Db): Promise<Set<string>> {
    const isOfOthers = rows.some((row) => this.#isOfOther(row, deadOwner))
    const alive = isOfOthers ? await livingNodes(db ?? this.#pool, this.#nodeId) : new Set<string>()
    if (!db) await this.#recover(rows, alive, deadOwner)
    return alive
  }

  sort(projectId: ProjectId, rows: MessageRow[], alive: Set<string>, deadOwner: string | undefined): ByOwner {
    const groupOf = (row: MessageRow): keyof ByOwner => {
      if (this.#following.has(projectId, row)) return 'followed'
      return this.#isOfOther(row, deadOwner) && alive.has(row.owner!) ? 'others' : 'free'
    }
    const by = Map.groupBy(rows, groupOf)
    return { followed: by.get('followed') ?? [], others: by.get('others') ?? [], free: by.get('free') ?? [] }
  }

  #isOfOther({ owner }: MessageRow, deadOwner: string | undefined): boolean {
    return owner !== null && owner !== this.#nodeId && owner !== deadOwner
  }

  /** A row whose outcome a dead owner noted is settled here, so that the claim does not get it. */
  async #recover(rows: MessageRow[], alive: Set<string>, deadOwner: string | undefined): Promise<void> {
    const isDead = (owner: string | null) => owner !== null && (owner === deadOwner || !alive.has(owner))
    const dead = new Set(rows.flatMap(({ owner }) => (owner !== this.#nodeId && isDead(owner) ? owner : [])))
    if (dead.size > 0) await this.#recovery?.ofNodes((id) => dead.has(id))
  }
}
