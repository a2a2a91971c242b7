import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'

/** The topic of a yes or a no to messages at all. */
export const everything = ''

/** Who sent the choice of a user. */
export interface Via {
  via: 'public_key' | 'secret_key' | 'agent' | 'token' | 'member'
  /** As the audit log names it. */
  actor: string
}

export interface ConsentRow extends Via {
  topic: string
  granted: boolean
  at: Date
  recorded_at: Date
  source: string | null
  wording: string | null
}

export interface Evidence extends Via {
  at: Date
  recordedAt: Date
  source: string | null
  wording: string | null
}

const given = 'at, recorded_at, source, wording, via, actor'
const columns = `topic, granted, ${given}`
// A caller may report a choice late: the time of the choice decides which one is the latest.
const renewed = `on conflict (project_id, user_id, topic, granted) do update
      set at = excluded.at, recorded_at = excluded.recorded_at, source = excluded.source, wording = excluded.wording,
          via = excluded.via, actor = excluded.actor
    where excluded.at >= consents.at`
const put = statement(
  'consents.put',
  `insert into consents (project_id, user_id, ${columns})
   select p.project_id, $2, c.topic, c.granted, $5, $6, $7, $8, $9, $10
     from projects p cross join unnest($3::text[], $4::boolean[]) as c(topic, granted) where p.project_id = $1
   ${renewed}`
)
const move = statement(
  'consents.move',
  `insert into consents (project_id, user_id, ${columns})
   select project_id, $3, ${columns} from consents where project_id = $1 and user_id = $2
   ${renewed}`
)
const ofUser = statement(
  'consents.of_user',
  `select ${columns} from consents where project_id = $1 and user_id = $2 order by topic, at desc, granted`
)

/** Keeps the evidence of choices in place of the previous ones of the same topics and values. */
export const putConsents = (
  tx: Db,
  projectId: ProjectId,
  userId: string,
  choices: readonly { topic: string; granted: boolean }[],
  { at, recordedAt, source, wording, via, actor }: Evidence
) =>
  tx.run(put, [
    ...[projectId, userId, choices.map(({ topic }) => topic), choices.map(({ granted }) => granted)],
    ...[at, recordedAt, source, wording, via, actor]
  ])

/** Copies the evidence of one user to another, where that one has none that is newer. */
export const moveConsents = (tx: Db, projectId: ProjectId, from: string, to: string) =>
  tx.run(move, [projectId, from, to])

/** By topic; of a yes and a no, the later one first. */
export const consentsOf = (db: Db, projectId: ProjectId, userId: string) =>
  db.query<ConsentRow>(ofUser, [projectId, userId])
