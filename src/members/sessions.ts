import type { Pool } from '../platform/db/db.ts'
import { notify } from '../platform/db/store.ts'
import { Refusal } from '../platform/errors.ts'
import {
  type Credentials,
  changedChannel,
  endSessionsById,
  endSessionsOf,
  type Holder,
  type ManageCaller,
  type Principal
} from '../projects/projects.ts'
import { deviceOf } from './device.ts'
import { listSessions, type SessionFilter, type SessionRow } from './session-store.ts'

/** The most sessions of one member that an admin ends with one call. */
const most = 1_000

const filterOf = ({ kind, id }: Principal): SessionFilter => (kind === 'member' ? { memberId: id } : { tokenId: id })
const holderOf = ({ kind, id }: Principal): Holder => (kind === 'member' ? { memberId: id } : { tokenId: id })

const wire = (row: SessionRow, current: string | null) => ({
  id: row.id,
  member: row.member_id && { id: row.member_id, email: row.member_email!, name: row.member_name! },
  token: row.token_id && { id: row.token_id, name: row.token_name! },
  how: row.how ?? 'token',
  device: deviceOf(row.user_agent),
  address: row.address,
  created_at: row.created_at,
  last_seen_at: row.seen_at,
  expires_at: row.expires_at,
  current: row.id === current
})

/** Lists and ends the sessions of signed-in browsers: one's own, and those of members whom the caller administers. */
export function createSessions(pool: Pool, credentials: Pick<Credentials, 'forget'>) {
  /** What an admin sees: sessions of people and tokens that belong to nothing outside of its projects. */
  function ofOthers(caller: ManageCaller, filter: SessionFilter): SessionFilter {
    const within = caller.reach('admin')
    if (within?.length === 0) throw new Refusal('forbidden', 'Only an admin sees the sessions of others.')
    return { ...filter, within }
  }

  async function end(work: (db: Pool) => Promise<number>): Promise<number> {
    const ended = await work(pool)
    await pool.run(notify, [changedChannel, 'sessions'])
    credentials.forget()
    return ended
  }

  return {
    async list(
      caller: ManageCaller,
      { all, memberId }: { all: boolean; memberId?: string | undefined },
      before: string | null,
      limit: number
    ) {
      const own = filterOf(caller.principal)
      const mine = !all && (memberId === undefined || memberId === own.memberId)
      const rows = await listSessions(pool, mine ? own : ofOthers(caller, { memberId }), before, limit)
      return rows.map((row) => wire(row, caller.session?.id ?? null))
    },
    /** Ends one session, of the caller or of someone whom it administers. */
    async end(caller: ManageCaller, sessionId: string): Promise<void> {
      const own = await listSessions(pool, { ...filterOf(caller.principal), sessionId }, null, 1)
      const reach = caller.reach('admin')
      const found =
        own.length > 0 || reach?.length === 0 ? own : await listSessions(pool, { sessionId, within: reach }, null, 1)
      if (found.length === 0) throw new Refusal('not_found', 'There is no such session.')
      await end((db) => endSessionsById(db, [sessionId]))
    },
    /** Ends all other sessions of the caller, or all sessions of a member whom it administers. */
    async endAll(caller: ManageCaller, memberId: string | undefined): Promise<number> {
      const { principal, session } = caller
      if (memberId === undefined || memberId === filterOf(principal).memberId)
        return end((db) => endSessionsOf(db, holderOf(principal), session?.id ?? null))
      const rows = await listSessions(pool, ofOthers(caller, { memberId }), null, most)
      return end((db) =>
        endSessionsById(
          db,
          rows.map(({ id }) => id)
        )
      )
    }
  }
}
