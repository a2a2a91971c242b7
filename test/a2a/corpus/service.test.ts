import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { givenCampaign } from '../../support/campaigns.ts'
import type { Json } from '../../support/http.ts'
import { startService, type TestProject } from '../../support/service.ts'
import { agentOf } from '../agent.ts'
import type { Action, Expected } from './cases.ts'
import { corpus } from './corpus.ts'
import { drawFrom } from './draw.ts'
import { campaigns, names } from './things.ts'

const service = await startService()
const unlimited = { requests_per_second: 0, client_requests_per_second: 0, triggers_per_second: 0 }
/** The artifacts of actions that change something. */
const writes: Record<string, string> = {
  'create-user': 'user-result',
  'track-event': 'event-result',
  'trigger-campaign': 'trigger-result',
  'send-push-notification': 'delivery-results'
}

const rightOnes = (expected: Expected): Action[] =>
  'never' in expected ? [] : 'does' in expected ? expected.does : expected.mayDo

/** Eleven cases of each class, from those with only one right action. */
const draw = drawFrom('sample')
const sample = corpus.flatMap(({ cases }) =>
  draw.some(
    cases.filter(({ expected }) => rightOnes(expected).length <= 1),
    11
  )
)

const phoneOf = (name: string) => `${name}-phone`

/** A shop in which each name has a phone and the campaigns exist. */
async function shop(): Promise<TestProject> {
  const project = await service.project({ mode: 'simulator', limits: unlimited })
  for (const campaign_id of campaigns) await givenCampaign(service, project, { campaign_id })
  for (const project_user_id of names) {
    const device = { platform: 'IOS', project_user_id, device_id: phoneOf(project_user_id) }
    const made = await service.manage('POST', `/projects/${project.id}/simulator/devices`, { json: device })
    assert.equal(made.status, 201, made.text)
  }
  return project
}

type Fields = Record<string, Json>
interface Written {
  /** Properties by the id of the user. */
  users: Record<string, Json>
  events: Json[]
  triggers: Json[]
  pushes: Json[]
}
/** Sorted, because the order of names and of rows has no meaning. */
const inOrder = (value: Json): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(
        Object.keys(value)
          .sort()
          .map((key) => [key, inOrder(value[key])])
      )
    : value
const sorted = (rows: Json[]) => rows.map((row) => JSON.stringify(inOrder(row))).sort()

/** The rows of the database, without the ids and times that the service makes. */
async function written({ id }: TestProject): Promise<Written> {
  const sql = (text: string) => service.sql(text, [id])
  const users = await sql('select project_user_id as id, properties from users where project_id = $1')
  return {
    users: Object.fromEntries(users.map(({ id, properties }) => [id, properties])),
    events: await sql(`select e.name, u.project_user_id as id, e.properties
      from events e join users u on u.project_id = e.project_id and u.id = e.user_id
      where e.project_id = $1 and e.message_id is null`),
    triggers: await sql('select campaign_id as campaign, audience, properties from triggers where project_id = $1'),
    pushes: await sql(`select device_id as device, content -> 'notification' as content
      from messages where project_id = $1 and campaign_id is null`)
  }
}

/** Adds the rows that an action writes. */
function write({ users, events, triggers, pushes }: Written, { skill, data }: Action) {
  const { projectUserId, deviceId, properties = {}, eventName, campaignId, ...more } = data as Fields
  switch (skill) {
    case 'create-user':
      users[projectUserId] = { ...users[projectUserId], ...properties }
      break
    case 'track-event':
      events.push({ name: eventName, id: projectUserId ?? ownerOf(deviceId), properties })
      break
    case 'trigger-campaign': {
      const targets = more.targets?.map(({ projectUserId, deviceId }: Fields) =>
        projectUserId === undefined ? ['device_id', deviceId] : ['project_user_id', projectUserId]
      )
      triggers.push({ campaign: campaignId, audience: targets ? { targets } : { broadcast: true }, properties })
      break
    }
    default: {
      const phone = deviceId ?? phoneOf(projectUserId)
      pushes.push({ device: names.some((name) => phoneOf(name) === phone) ? phone : '', content: more })
    }
  }
}
const ownerOf = (device: string) => device.split('-')[0]!

const agentsOf = (project: TestProject) => agentOf(service, project, 'plain')

/** Sends the texts to one task until it ends. */
async function talk(agent: ReturnType<typeof agentsOf>, turns: string[]): Promise<Json> {
  let task: Json
  for (const text of turns) {
    task = await agent.send(text, task && { taskId: task.id })
    if (task.status.state !== 'input-required') break
  }
  return task
}

describe('a sample of the corpus, sent to the service', () => {
  it('writes exactly what its texts ask for, and each clear order is carried out', async () => {
    const project = await shop()
    const expected = await written(project)
    const agent = agentsOf(project)
    assert.ok(sample.length >= 200, `${sample.length}`)
    let [clear, taken] = [0, 0]
    for (const { turns, expected: right } of sample) {
      const task = await talk(agent, turns)
      if ('does' in right) clear++
      const [action] = rightOnes(right)
      if (action && task.artifacts?.some(({ name }: Json) => name === writes[action.skill])) write(expected, action)
      // The user or device may not exist: the service says so, and writes nothing.
      if ('does' in right && ['completed', 'failed', 'rejected'].includes(task.status.state)) taken++
    }
    const found = await written(project)
    assert.deepEqual(found.users, expected.users)
    for (const kind of ['events', 'triggers', 'pushes'] as const)
      assert.deepEqual(sorted(found[kind]), sorted(expected[kind]), kind)
    assert.ok(taken >= 0.9 * clear, `${taken} of ${clear}`)
  })
})
