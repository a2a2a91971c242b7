import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { agentOf } from '../a2a/agent.ts'
import { done, overHttp } from '../mcp/clients.ts'
import { givenCampaign } from './campaigns.ts'
import { ask, type Json } from './http.ts'
import type { TestProject, TestService } from './service.ts'

/** What a planted person leaves by the ways beside the REST API. */
export interface Ways {
  service: TestService
  project: TestProject
  mark: string
  userId: string
  deviceId: string
  ok(method: string, path: string, json: Json): Promise<Json>
  manage(method: string, path: string, json?: Json): Promise<Json>
}

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()

/** Tools of MCP, with and without a key that was made of the id. */
export async function plantByMcp({ service, project, userId, mark }: Ways): Promise<void> {
  const client = await overHttp('2.4.0', service.url, { authorization: `Bearer ${project.secretKey}` })
  try {
    await done(client, 'create-user', { projectUserId: userId, properties: { tool: mark } })
    await done(client, 'find-user', { projectUserId: userId })
    const push = { projectUserId: userId, title: mark, body: mark, idempotencyKey: 'by-mcp' }
    await done(client, 'send-push-notification', push)
  } finally {
    await client.close()
  }
}

/** The SDKs of Segment: a phone with a token, a person with traits, and what the person did before and after the log-in. */
export async function plantByIntake({ service, project, userId, mark, manage }: Ways): Promise<void> {
  await manage('PATCH', '', { intake: true })
  const authorization = `Basic ${Buffer.from(`${project.publicKey}:`).toString('base64')}`
  const device = { id: `${mark}-tablet`, type: 'android', model: mark, token: `${mark}-token`.padEnd(40, '0') }
  const base = { anonymousId: `${mark}-anonymous`, context: { device, os: { name: mark, version: '1' } } }
  const calls: [path: string, more: Json][] = [
    ['/track', { event: `${mark} before`, properties: { of: mark } }],
    ['/identify', { userId, traits: { email: `${mark}@example.com` } }],
    ['/track', { userId, event: `${mark} after`, properties: { of: mark } }],
    ['/screen', { userId, name: mark }],
    ['/alias', { userId, previousId: `${mark}-anonymous` }]
  ]
  for (const [number, [path, more]] of calls.entries()) {
    const json = { ...base, ...more, messageId: `${mark}-${number}` }
    const reply = await ask(service.url, 'POST', `/v1${path}`, { json, headers: { authorization } })
    assert.equal(reply.status, 200, `${path}: ${reply.text}`)
  }
}

/** Live Activities: tokens, an activity that listens to a channel, and a change of the channel that names the person. */
export async function plantActivities({ userId, deviceId, mark, ok, manage }: Ways): Promise<void> {
  const attributes_type = 'RideAttributes'
  const token = Buffer.from(mark).toString('hex').padEnd(64, '0')
  await ok('POST', `/devices/${deviceId}/live-activity-start-tokens`, { attributes_type: mark, push_token: token })
  const running = { attributes_type, activity_id: `${mark}-ride`, push_token: token }
  await ok('POST', `/devices/${deviceId}/live-activity-update-tokens`, running)
  const phone = {
    platform: 'IOS',
    device_id: `${mark}-second`,
    project_user_id: userId,
    attributes_types: [attributes_type]
  }
  await manage('POST', '/simulator/devices', phone)
  const { channel_id } = await ok('POST', '/live-activity-channels', { attributes_type, storage: 'most_recent' })
  const state = { content_state: { driver: userId } }
  const item = { target: { project_user_id: userId }, attributes_type, attributes: { of: mark }, channel_id, ...state }
  await ok('POST', '/live-activities:start', { live_activities: [item] })
  await ok('POST', `/live-activity-channels/${channel_id}:update`, state)
}

/** A campaign of tomorrow whose audience is the person, and an approval that was refused with a note about the person. */
export async function plantDecisions(
  { service, project, userId, mark, manage }: Ways,
  keyed: TestProject
): Promise<void> {
  await givenCampaign(service, project, {
    campaign_id: 'tomorrow',
    type: 'scheduled',
    schedule: { at: inDays(1).slice(0, 16), timezone: 'UTC' },
    default_audience: { targets: [{ project_user_id: userId }] },
    message: { title: 'Tomorrow' }
  })
  const agent = agentOf(service, keyed, 'official')
  const audience = { targets: [{ projectUserId: userId }, { projectUserId: 'bo' }] }
  const asked = { skill: 'trigger-campaign', campaignId: 'news', audience, properties: { name: mark } }
  await agent.result('send', { message: agent.message(asked) })
  const [newest] = (await manage('GET', '/approvals?state=pending')).items
  await manage('POST', `/approvals/${newest.id}:reject`, { note: `Not to ${userId}` })
}

/** The files below a folder that hold a text. */
export async function filesWith(folder: string, text: string): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() && (await readFile(path, 'latin1')).includes(text)) found.push(entry.name)
  }
  return found
}
