import { type Static, Type } from '@sinclair/typebox'
import type { Pool } from '../platform/db/db.ts'
import { decodeCursor, defaultLimit, encodeCursor, page, pageQuery, timeOf } from '../platform/http/paging.ts'
import type { ProjectId } from '../platform/ids.ts'
import { checkCampaignId } from './audience/request.ts'
import { type CampaignRow, listCampaigns } from './store.ts'

export const Status = Type.Union(['draft', 'active', 'paused', 'archived'].map((status) => Type.Literal(status)))
export const CampaignQuery = Type.Object({ ...pageQuery, status: Type.Optional(Status) })

/** One page of campaigns, the newest first. `show` gives each row the form of its surface. */
export async function campaignPage<Shown>(
  pool: Pool,
  projectId: ProjectId,
  { limit = defaultLimit, cursor, status }: Static<typeof CampaignQuery>,
  show: (row: CampaignRow) => Shown,
  prepare: (rows: CampaignRow[]) => Promise<void> = async () => {}
) {
  const after = cursor === undefined ? undefined : cursorParts(cursor)
  const rows = await listCampaigns(pool, projectId, status, after, limit + 1)
  await prepare(rows)
  return page(rows, limit, (row) => encodeCursor(row.created_at.toISOString(), row.id), show)
}

function cursorParts(cursor: string): [Date, string] {
  const [at, id] = decodeCursor(cursor, 2)
  return [timeOf(at!), checkCampaignId(id)]
}
