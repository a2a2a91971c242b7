import assert from 'node:assert/strict'
import type { Asked, Json, Reply } from './http.ts'
import { eventually, type TestProject, type TestService } from './service.ts'

export const invalid = 'Campaign Id must be provided'
export const refused = 'Failed to send campaign trigger message'

/** Saves a campaign that can be triggered, unless the given fields say otherwise. */
export async function givenCampaign(service: TestService, project: TestProject, wish: Json = {}): Promise<Json> {
  const campaign = { campaign_id: 'news', name: 'News', status: 'active', message: { title: 'Hello' }, ...wish }
  const path = `/projects/${project.id}/campaigns/${encodeURIComponent(campaign.campaign_id)}`
  const reply = await service.manage('PUT', path, { json: campaign })
  assert.equal(reply.status, 200, reply.text)
  return reply.json
}

export const trigger = (project: TestProject, body?: Json, campaign = 'news', asked: Asked = {}): Promise<Reply> =>
  project.call('POST', `/api/v1/campaigns/${encodeURIComponent(campaign)}:trigger`, {
    ...(body !== undefined && { json: body }),
    ...asked
  })

/** Triggers and returns the id; any status but 200 fails the test. */
export async function triggered(project: TestProject, body?: Json, campaign?: string): Promise<string> {
  const reply = await trigger(project, body, campaign)
  assert.equal(reply.status, 200, reply.text)
  return reply.json.trigger_id
}

export async function readTrigger(project: TestProject, id: string): Promise<Json> {
  const reply = await project.call('GET', `/api/v1/triggers/${id}`)
  assert.equal(reply.status, 200, reply.text)
  const { counts } = reply.json
  assert.equal(counts.targeted, counts.sent + counts.failed + counts.skipped + counts.pending, 'the counters add up')
  assert.ok(
    Object.values(counts).every((count) => (count as number) >= 0),
    JSON.stringify(counts)
  )
  return reply.json
}

const ends = ['completed', 'canceled', 'failed']

/** Waits until the trigger has ended, and returns it. */
export const ended = (project: TestProject, id: string, withinMs = 20_000): Promise<Json> =>
  eventually(async () => {
    const found = await readTrigger(project, id)
    assert.ok(ends.includes(found.state), JSON.stringify(found))
    assert.equal(found.counts.pending, 0)
    return found
  }, withinMs)

/** Triggers and waits for the end. */
export const run = async (project: TestProject, body?: Json, campaign?: string): Promise<Json> =>
  ended(project, await triggered(project, body, campaign))

export const users = (...names: string[]) => ({
  audience: { targets: names.map((name) => ({ project_user_id: name })) }
})
export const devices = (...names: string[]) => ({ audience: { targets: names.map((name) => ({ device_id: name })) } })
export const everyone = { audience: { broadcast: true } }

export const put = async (project: TestProject, user: string, properties: Json) =>
  assert.equal(
    (await project.call('POST', '/api/v1/users', { json: { project_user_id: user, properties } })).status,
    200
  )

/** Many users with a phone each, written directly into the database: creating them by calls would take minutes. */
export async function givenMany(
  service: TestService,
  project: TestProject,
  count: number,
  prefix = 'p'
): Promise<void> {
  const id = `('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`
  const at = `now() - interval '1 minute'`
  const series = 'from generate_series(1, $2::int) as n'
  await service.sql(
    `insert into users (project_id, id, project_user_id, properties, created_at, updated_at)
     select $1, ${id}, $3 || '-user-' || n, jsonb_build_object('n', n, 'odd', n % 2 = 1), ${at}, ${at} ${series}`,
    [project.id, count, prefix]
  )
  await service.sql(
    `insert into devices (project_id, id, user_id, platform, push_permission, facts, created_at, updated_at, last_seen_at)
     select $1, $3 || '-' || n, ${id}, 'IOS', true, '{}', ${at}, ${at}, ${at} ${series}`,
    [project.id, count, prefix]
  )
  await service.sql(
    `insert into push_tokens (project_id, hash, device_id, token, type, environment, registered_at)
     select $1, sha256(($1 || $3 || n)::bytea), $3 || '-' || n, encode(sha256(($1 || $3 || n)::bytea), 'hex'), 'APNS',
            'production', ${at} ${series}`,
    [project.id, count, prefix]
  )
  // As autovacuum would do a minute later.
  await service.sql('analyze users, devices, push_tokens')
}
