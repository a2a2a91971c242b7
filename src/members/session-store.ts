import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { How } from '../projects/projects.ts'

export interface SessionRow {
  id: string
  member_id: string | null
  member_name: string | null
  member_email: string | null
  token_id: string | null
  token_name: string | null
  how: How | null
  user_agent: string | null
  address: string | null
  created_at: Date | null
  seen_at: Date | null
  expires_at: Date
}

export interface SessionFilter {
  memberId?: string | undefined
  tokenId?: string | undefined
  sessionId?: string | undefined
  /**
   * Only sessions of tokens and members that belong to these projects and to nothing else; null: of all. Any admin may
   * invite any address, so an invitation that was not accepted counts for nothing.
   */
  within?: ProjectId[] | null
}

const list = statement(
  'sessions.list',
  `select s.id, s.member_id, m.name as member_name, m.email as member_email, s.token_id, t.name as token_name, s.how,
          s.user_agent, s.address, s.created_at, s.seen_at, s.expires_at
     from sessions s left join members m on m.id = s.member_id left join tokens t on t.id = s.token_id
    where not s.is_code and s.id is not null and s.expires_at > $1 and (m.id is not null or t.id is not null)
      and ($2::uuid is null or s.member_id = $2) and ($3::uuid is null or s.token_id = $3)
      and ($4::uuid is null or s.id = $4)
      and ($5::text[] is null or t.project_id = any($5::text[])
           or (select bool_and(coalesce(o.project_id = any($5::text[]), false)) from memberships o
                where o.member_id = m.id and o.accepted_at is not null))
      and ($6::uuid is null or s.id < $6)
    order by s.id desc limit $7`
)

/** Newest first. */
export const listSessions = (
  db: Db,
  { memberId, tokenId, sessionId, within = null }: SessionFilter,
  before: string | null,
  limit: number
) =>
  db.query<SessionRow>(list, [new Date(), memberId ?? null, tokenId ?? null, sessionId ?? null, within, before, limit])
