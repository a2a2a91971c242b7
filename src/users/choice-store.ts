import type { Db } from '../platform/db/db.ts'
import { asTexts, statement, texts } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'

/** What a user has chosen. Absent: the default. */
export interface Choices {
  /** The user wants only transactional messages. */
  out?: true
  /** By topic: whether the user wants it. */
  topics?: Record<string, boolean>
}

/** Whether choices, as SQL, are those of a user who has opted out. */
export const isOut = (choices: string) => `coalesce(${choices} @> '{"out": true}', false)`

/** Two choices as one, in SQL. Of a yes and a no, the no wins. */
export const mergedChoices = (one: string, two: string) => `case when ${one} is null then ${two} else
     case when ${isOut(one)} or ${isOut(two)} then '{"out": true}'::jsonb else '{}' end
     || coalesce(jsonb_set('{}', '{topics}', (select jsonb_object_agg(name, wanted) from (
          select t.name, bool_and(t.wanted::boolean) as wanted
            from (select * from jsonb_each_text(${one} -> 'topics')
                  union all select * from jsonb_each_text(${two} -> 'topics')) as t(name, wanted)
           group by t.name) chosen)), '{}') end`

const find = statement('users.choices', 'select choices from users where project_id = $1 and id = $2')
const lock = statement(
  'users.lock_choices',
  'select choices from users where project_id = $1 and id = $2 for no key update'
)
const write = statement(
  'users.choose',
  'update users set choices = $3, updated_at = $4 where project_id = $1 and id = $2'
)
// In the order of the writers of properties.
const lockNamed = statement(
  'users.lock_choices_of_names',
  `select id, project_user_id, choices from users where project_id = $1 and project_user_id = any($2::text[])
    order by project_user_id for no key update`
)
const mergeMany = statement(
  'users.merge_choices',
  `update users set choices = ${mergedChoices('g.choices', 'users.choices')}, updated_at = $4
     from unnest($2::text[], ${texts('$3')}::jsonb[]) as g(name, choices)
    where users.project_id = $1 and users.project_user_id = g.name`
)
// Weaker than the lock of a deletion: messages and events of these users can be written meanwhile. The order is that of
// the writers of properties.
const lockMany = statement(
  'users.lock_to_count',
  `select id from users where project_id = $1 and id = any($2::uuid[])
    order by project_user_id, id for no key update`
)

/** The choices of a user: null if there are none, undefined if there is no such user. */
export const findChoices = async (db: Db, projectId: ProjectId, userId: string): Promise<Choices | null | undefined> =>
  (await db.one<{ choices: Choices | null }>(find, [projectId, userId]))?.choices

/** Locks the user until the end of the transaction, so that no other choice is lost. */
export const lockChoices = async (tx: Db, projectId: ProjectId, userId: string): Promise<Choices | null | undefined> =>
  (await tx.one<{ choices: Choices | null }>(lock, [projectId, userId]))?.choices

export const writeChoices = (tx: Db, projectId: ProjectId, userId: string, choices: Choices | null, at: Date) =>
  tx.run(write, [projectId, userId, choices === null ? null : JSON.stringify(choices), at])

/** Adds choices of named users to those that they have. Returns the ids of the users who are opted out by that. */
export async function mergeChoices(
  tx: Db,
  projectId: ProjectId,
  given: ReadonlyMap<string, Choices>,
  at: Date
): Promise<string[]> {
  if (given.size === 0) return []
  const names = [...given.keys()].sort()
  const before = await tx.query<{ id: string; project_user_id: string; choices: Choices | null }>(lockNamed, [
    projectId,
    names
  ])
  await tx.run(mergeMany, [projectId, names, asTexts(names.map((name) => given.get(name))), at])
  const leaving = before.filter((user) => given.get(user.project_user_id)?.out && !user.choices?.out)
  return leaving.map(({ id }) => id)
}

/** Locks users until the end of the transaction: others that count their messages wait. */
export const lockToCount = (tx: Db, projectId: ProjectId, userIds: string[]) =>
  tx.query<{ id: string }>(lockMany, [projectId, userIds])
