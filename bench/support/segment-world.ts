// The project of bench/segments.ts, and the conditions that it is asked.
import type { Pool } from '../../src/platform/db/db.ts'

export const now = new Date()
const on = (attribute: string, operator: string, value?: unknown) =>
  value === undefined ? { attribute, operator } : { attribute, operator, value }

/** Forms of conditions by name, as a campaign would write them: each operator, each kind of attribute, and groups. */
export const forms: Record<string, unknown> = {
  everyone: {},
  'a text equals': on('user.plan', 'equals', 'premium'),
  'a text differs': on('user.plan', 'not_equals', 'free'),
  'a number equals': on('user.age', 'equals', 42),
  'a number is greater': on('user.age', 'greater_than', 80),
  'a text is greater': on('user.name', 'greater_than', 'f'),
  'true equals': on('user.vip', 'equals', true),
  'one of a list': on('user.country', 'in', ['KR', 'BR']),
  'none of a list': on('user.country', 'not_in', ['KR', 'US', 'DE', 'FR']),
  'a property exists': on('user.nickname', 'exists'),
  'a property is missing': on('user.plan', 'not_exists'),
  'text, number and list': {
    all: [
      on('user.plan', 'not_equals', 'free'),
      on('user.age', 'greater_than', 40),
      on('user.country', 'in', ['KR', 'DE', 'FR'])
    ]
  },
  'any of five': {
    any: [
      on('user.plan', 'equals', 'none'),
      on('user.age', 'greater_than', 100),
      on('user.country', 'equals', 'BR'),
      on('user.vip', 'equals', 'no'),
      on('user.email', 'equals', 'user-77@example.org')
    ]
  },
  'not in a group': { not: { all: [on('user.plan', 'equals', 'free'), on('user.age', 'less_than', 88)] } },
  'a text contains': on('user.email', 'contains', '777@'),
  'a text lacks': on('user.email', 'not_contains', '@example'),
  'a text starts with': on('user.email', 'starts_with', 'user-77'),
  'a text ends with': on('user.email', 'ends_with', '77@example.org'),
  'a pattern': on('user.email', 'matches', '^user-[0-9]*7@'),
  'a time within': on('user.since', 'within_last', '30d'),
  'a time that holds for most': on('user.since', 'within_last', '360d'),
  'a time before': on('user.since', 'before', new Date(now.getTime() - 370 * 86_400_000).toISOString()),
  '1,000 ids': on(
    'user.id',
    'in',
    Array.from({ length: 1_000 }, (_, i) => `user-${i * 31}`)
  ),
  'created within': on('user.created_at', 'within_last', '1d'),
  'a platform': on('device.platform', 'equals', 'ANDROID'),
  'a version of a device': on('device.app_version', 'greater_or_equal', '2.19'),
  'a version that half have': on('device.app_version', 'greater_or_equal', '2.10'),
  'a version equals': on('device.app_version', 'equals', '2.7'),
  'a zone of a device': on('device.timezone', 'starts_with', 'Asia/'),
  'an event within 1 day': { event: 'purchase', operator: 'at_least', count: 1, within: '1d' },
  'an event within 30 days': { event: 'purchase', operator: 'at_least', count: 1, within: '30d' },
  'no event within 30 days': { event: 'purchase', operator: 'at_most', count: 0, within: '30d' },
  'an event with a condition': {
    event: 'purchase',
    operator: 'at_least',
    count: 1,
    where: [on('event.amount', 'greater_than', 40)]
  },
  'three events with a condition': {
    event: 'purchase',
    operator: 'at_least',
    count: 3,
    where: [on('event.amount', 'greater_than', 10)]
  },
  'exactly one event': { event: 'purchase', operator: 'exactly', count: 1, within: '10d' },
  'at most one event': { event: 'purchase', operator: 'at_most', count: 1 }
}

/** One device with a token for each user, one event for every second user. */
export async function fill(pool: Pool, count: number): Promise<void> {
  await pool.adhoc(`insert into projects values ('p', 'Bench', 'live', 'standard', '{}', '{}', $1)`, [now])
  const step = 100_000
  for (let from = 1; from <= count; from += step) {
    const range = [from, Math.min(count, from + step - 1), now]
    const id = `('00000000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid`
    await pool.adhoc(
      `insert into users (project_id, id, project_user_id, properties, created_at, updated_at)
       select 'p', ${id}, 'user-' || i, jsonb_build_object('plan', case when i % 20 = 0 then 'premium' else 'free' end,
              'age', i % 90, 'vip', i % 7 = 0, 'country', (array['KR','US','DE','FR','JP'])[i % 5 + 1],
              'email', 'user-' || i || '@example.org', 'name', md5(i::text), 'since', to_char($3::timestamptz - (i % 400) * interval '1 day', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')),
              $3, $3 from generate_series($1::int, $2::int) i`,
      range
    )
    await pool.adhoc(
      `insert into devices (project_id, id, user_id, platform, push_permission, facts, created_at, updated_at, last_seen_at)
       select 'p', 'device-' || i, ${id}, 'IOS', true, jsonb_build_object('app_version', '2.' || i % 20 || '.0'), $3, $3, $3
         from generate_series($1::int, $2::int) i`,
      range
    )
    await pool.adhoc(
      `insert into push_tokens (project_id, hash, device_id, token, type, environment, registered_at)
       select 'p', sha256(i::text::bytea), 'device-' || i, 'token-' || i, 'APNS', 'production', $3 from generate_series($1::int, $2::int) i`,
      range
    )
    await pool.adhoc(
      `insert into events (project_id, user_id, at, id, name, details, properties)
       select 'p', ${id}, $3::timestamptz - i % 25 * interval '1 day', ${id}, 'purchase', '{}', jsonb_build_object('amount', i % 50)
         from generate_series($1::int, $2::int, 2) i`,
      range
    )
  }
  for (const table of ['users', 'devices', 'push_tokens', 'events']) await pool.adhoc(`vacuum (analyze) ${table}`, [])
}
