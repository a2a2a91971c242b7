import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { Segment } from '../language.ts'

export interface SavedRow {
  id: string
  version: number
  name: string
  segment: Segment
  refs: string[]
  created_at: Date
  updated_at: Date
}

const columns = 'id, version, name, segment, refs, created_at, updated_at'
const find = statement('saved_segments.find', `select ${columns} from saved_segments where project_id = $1 and id = $2`)
const findMany = statement(
  'saved_segments.find_many',
  'select id, segment from saved_segments where project_id = $1 and id = any($2::text[])'
)
const list = statement(
  'saved_segments.list',
  `select ${columns} from saved_segments
    where project_id = $1 and ($2::timestamptz is null or (created_at, id) < ($2, $3::text))
    order by created_at desc, id desc limit $4`
)
const links = statement('saved_segments.links', 'select id, refs from saved_segments where project_id = $1')
const put = statement(
  'saved_segments.put',
  `insert into saved_segments (project_id, id, version, name, segment, refs, created_at, updated_at)
   values ($1, $2, 1, $3, $4, $5, $6, $6)
   on conflict (project_id, id) do update set version = saved_segments.version + 1, name = excluded.name,
     segment = excluded.segment, refs = excluded.refs, updated_at = excluded.updated_at`
)
const remove = statement('saved_segments.delete', 'delete from saved_segments where project_id = $1 and id = $2')
// Of changes to saved segments and of campaigns that refer to some, one at a time: each writes the others out. Shared locks
// would not do for campaigns: those that name events change the project in the same transaction.
const lock = statement(
  'saved_segments.lock',
  'select project_id from projects where project_id = $1 and deleted_at is null for no key update'
)
const erase = statement(
  'saved_segments.erase_window',
  `delete from saved_segments where project_id = $1 and id in (
     select id from saved_segments where project_id = $1 order by id limit 500)`
)

export const findSaved = (db: Db, projectId: ProjectId, id: string) => db.one<SavedRow>(find, [projectId, id])

export const listSaved = (db: Db, projectId: ProjectId, after: [Date, string] | undefined, limit: number) =>
  db.query<SavedRow>(list, [projectId, after?.[0] ?? null, after?.[1] ?? null, limit])

/** The segments of these ids. Missing ones are missing from the result. */
export async function loadSaved(db: Db, projectId: ProjectId, ids: string[]): Promise<Map<string, Segment>> {
  const rows = await db.query<{ id: string; segment: Segment }>(findMany, [projectId, ids])
  return new Map(rows.map(({ id, segment }) => [id, segment]))
}

/** For each saved segment of the project, those that it refers to itself. */
export const linksOf = (db: Db, projectId: ProjectId) => db.query<Pick<SavedRow, 'id' | 'refs'>>(links, [projectId])

export const putSaved = (
  tx: Db,
  projectId: ProjectId,
  { id, name, segment, refs }: Pick<SavedRow, 'id' | 'name' | 'segment' | 'refs'>,
  at: Date
) => tx.run(put, [projectId, id, name, JSON.stringify(segment), refs, at])

export const deleteSaved = (tx: Db, projectId: ProjectId, id: string) => tx.run(remove, [projectId, id])

/**
 * Before saved segments change, or are written out for good: until the end of the transaction none of them changes. False: the
 * project is being erased.
 */
export const lockSaved = async (tx: Db, projectId: ProjectId): Promise<boolean> =>
  (await tx.query(lock, [projectId])).length > 0

export const eraseSavedWindow = (db: Db, projectId: ProjectId): Promise<number> => db.run(erase, [projectId])
