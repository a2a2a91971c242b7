import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Platform } from './schemas.ts'
import { type DeviceRow, deviceColumns } from './store.ts'

/** A search looks at this many of the newest devices: any text may be searched for, and no index finds a part of it. */
const searched = 10_000

const search = statement(
  'devices.search',
  `select ${deviceColumns}
     from (select * from devices
            where project_id = $1 and ($6::text[] is null or id = any($6))
              and ($8::text is null
                   or user_id = (select id from users where project_id = $1 and project_user_id = $8))
            order by created_at desc, id desc limit ${searched}) d
     left join push_tokens t on t.project_id = $1 and t.device_id = d.id
     left join users u on u.project_id = $1 and u.id = d.user_id
    where ($2::timestamptz is null or (d.created_at, d.id) < ($2, $3::text))
      and ($4::text is null or strpos(lower(d.id), $4) > 0 or strpos(lower(u.project_user_id), $4) > 0)
      and ($5::text is null or d.platform = $5)
      and ($7::text[] is null or d.id <> all($7))
      and ($9::boolean is null or d.push_permission = $9)
      and ($10::boolean is null or (t.token is not null and t.dead_since is null) = $10)
    order by d.created_at desc, d.id desc limit $11`
)

export interface DeviceSearch {
  after?: [Date, string] | undefined
  /** A part of the id of the device or of its user. */
  text?: string | undefined
  platform?: Platform | undefined
  /** Only these devices. */
  among?: string[] | undefined
  /** None of these devices. */
  except?: string[] | undefined
  projectUserId?: string | undefined
  permission?: boolean | undefined
  /** Whether it has a token that works. */
  token?: boolean | undefined
  limit: number
}

/** Newest first. */
export const searchDevices = (db: Db, projectId: ProjectId, wanted: DeviceSearch) =>
  db.query<DeviceRow>(search, [
    projectId,
    wanted.after?.[0] ?? null,
    wanted.after?.[1] ?? null,
    wanted.text?.toLowerCase() ?? null,
    wanted.platform ?? null,
    wanted.among ?? null,
    wanted.except ?? null,
    wanted.projectUserId ?? null,
    wanted.permission ?? null,
    wanted.token ?? null,
    wanted.limit
  ])
