import type pg from 'pg'
import { watchedToken } from './apns-gateway.ts'

/**
 * Writes users with a phone and a push token each: `user-1`, `user-2` and so on. The arrival of pushes to the last ones,
 * `watched` of them, is recorded by the gateway.
 */
export async function addPeople(client: pg.Client, project: string, count: number, watched = 0): Promise<void> {
  const id = `('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`
  const series = `from generate_series(1, ${count + watched}) as n`
  await client.query(
    `insert into users (project_id, id, project_user_id, properties, created_at, updated_at)
     select $1, ${id}, 'user-' || n, jsonb_build_object('n', n, 'name', 'Name ' || n), now(), now() ${series}`,
    [project]
  )
  await client.query(
    `insert into devices (project_id, id, user_id, platform, push_permission, facts, created_at, updated_at, last_seen_at)
     select $1, 'device-' || n, ${id}, 'IOS', true, '{}', now(), now(), now() ${series}`,
    [project]
  )
  const hex = `encode(sha256(($1 || n)::bytea), 'hex')`
  await client.query(
    `insert into push_tokens (project_id, hash, device_id, token, type, environment, registered_at)
     select $1, sha256(($1 || n)::bytea), 'device-' || n,
            case when n > ${count} then '${watchedToken}' || lpad(to_hex(n), 60, '0') else '0000' || right(${hex}, 60) end,
            'APNS', 'production', now() ${series}`,
    [project]
  )
  await client.query('vacuum analyze users, devices, push_tokens')
}

/** The token of a watched user. */
export const tokenOf = (n: number): string => `${watchedToken}${n.toString(16).padStart(60, '0')}`
