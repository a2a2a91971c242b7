import assert from 'node:assert/strict'
import { subscribe } from 'node:diagnostics_channel'
import { describe, it } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { FastifyInstance } from 'fastify'
import type { Answer, Content } from '../../src/platform/http/openapi/answers.ts'
import { pathTemplate } from '../../src/platform/http/openapi/names.ts'
import type { OpenApi, Operation } from '../../src/platform/http/openapi/openapi.ts'
import type { Schema } from '../../src/platform/http/openapi/schema.ts'
import type { Reply } from '../support/http.ts'
import { startService } from '../support/service.ts'

// Fastify announces its instances here, so the test sees the real routes without a special access for tests. It takes a
// process of its own, because the instances of other files would otherwise be included.
const registered: string[] = []
subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { fastify: FastifyInstance }
  fastify.addHook('onRoute', ({ method, url }) => {
    for (const name of [method].flat()) registered.push(`${name} ${url}`)
  })
})

const service = await startService()
const document: OpenApi = (await service.ask('GET', '/openapi.json')).json
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation }))
)

const answerOf = (operation: Operation, status: string | number): Answer => {
  const answer = operation.responses[status]
  assert.ok(answer, `${operation.operationId} documents ${status}`)
  if (!('$ref' in answer)) return answer
  return document.components.responses[answer.$ref.split('/').at(-1) as keyof OpenApi['components']['responses']]
}
const successOf = (operation: Operation) => {
  const status = Object.keys(operation.responses).find((code) => code.startsWith('2'))!
  return { status: Number(status), ...answerOf(operation, status) }
}

const ajv = new Ajv2020({
  strict: false,
  formats: { 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ }
})

function assertPasses(schema: unknown, value: unknown, what: string): void {
  const check = ajv.compile(schema as object)
  check(value)
  const errors = check.errors ?? []
  assert.deepEqual(errors, [], `${what}: ${JSON.stringify(value)}`)
}

/** The same schema without room for unnamed fields: every returned field must be documented. */
function closed(schema: Schema): Schema {
  const { properties, items, anyOf } = schema
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, closed(inner)])),
      additionalProperties: false
    }),
    ...(items && { items: closed(items) }),
    ...(anyOf && { anyOf: anyOf.map(closed) })
  }
}

describe('GET /openapi.json', () => {
  it('is a valid OpenAPI 3.1 document', async () => {
    const result = await new Validator().validate(structuredClone(document) as unknown as Record<string, unknown>)
    assert.deepEqual(result.errors ?? [], [])
    assert.ok(result.valid)
    assert.match(document.openapi, /^3\.1\./)
  })

  it('needs no credentials, names the address it was asked at, and is answered 304 when unchanged', async () => {
    assert.deepEqual(document.servers, [{ url: service.url }])
    const there = await service.ask('GET', '/openapi.json', { headers: { host: 'api.example.test' } })
    assert.deepEqual(there.json.servers, [{ url: 'http://api.example.test' }])
    const odd = await service.ask('GET', '/openapi.json', { headers: { host: 'a"<b>' } })
    assert.deepEqual(odd.json.servers, [{ url: 'http://localhost' }])
    const again = await service.ask('GET', '/openapi.json', { headers: { 'if-none-match': there.headers.etag } })
    assert.equal(again.status, 200, 'another address is another document')
    const headers = { host: 'api.example.test', 'if-none-match': there.headers.etag }
    const same = await service.ask('GET', '/openapi.json', { headers })
    assert.deepEqual([same.status, same.text], [304, ''])
  })

  it('describes every route the service has, apart from twins, pages and those that only refuse', () => {
    const twin = /^\S+ \/manage\/v1\/projects\/:project_id\/(api\/v1|a2a)(\/|$)/
    const refusing = /^(PATCH|DELETE) \/api\/v1\/users\/?$|^POST (\/api\/v1\/users|\/a2a)\/$/
    const page = /^GET \/((console|docs)(\/\*)?)?$/
    const expected = registered
      .filter((route) => ![/^(HEAD|OPTIONS) /, twin, refusing, page].some((pattern) => pattern.test(route)))
      .map((route) => route.replace(/ .*/, (path) => pathTemplate(path)))
    assert.ok(expected.length > 20)
    assert.deepEqual(operations.map(({ method, path }) => `${method} ${path}`).sort(), expected.sort())
  })

  it('gives every operation a name of its own, a summary, a tag, and a meaning to each parameter', () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    assert.equal(new Set(ids).size, ids.length)
    const tags = document.tags.map(({ name }) => name)
    for (const { operation, path } of operations) {
      assert.match(operation.operationId, /^[a-z][A-Za-z0-9]+$/)
      assert.ok(operation.summary)
      assert.ok(tags.includes(operation.tags[0]))
      const parameters = operation.parameters ?? []
      for (const { name, description } of parameters) assert.ok(description, `${operation.operationId} ${name}`)
      const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => `{${name}}`)
      assert.deepEqual(inPath, path.match(/\{\w+\}/g) ?? [])
    }
  })

  it('has examples that its own schemas accept, of bodies and of answers', () => {
    for (const { operation } of operations) {
      const contents: Record<string, Content> = { ...operation.requestBody?.content, ...successOf(operation).content }
      if (operation.requestBody?.content['application/json']) {
        const { schema, example } = operation.requestBody.content['application/json']
        assert.notEqual(example, undefined, operation.operationId)
        assertPasses(schema, example, `body of ${operation.operationId}`)
      }
      for (const { schema, example } of Object.values(contents))
        if (example !== undefined) assertPasses(schema, example, operation.operationId)
    }
  })

  it('describes errors as the contract does', () => {
    const { patch, delete: remove } = document.paths['/api/v1/users/{project_user_id}']!
    assert.equal(answerOf(patch!, 404).content, undefined, 'an empty body')
    assert.equal(remove!.responses[404], undefined, 'delete user never answers 404')
    for (const operation of [patch!, remove!, document.paths['/api/v1/users']!.post!]) {
      const { schema } = answerOf(operation, 400).content!['text/plain']!
      assert.equal((schema as Schema).const, 'Project User Id must be provided')
      assert.equal(operation.responses[415], undefined, 'a wrong type is the fixed 400')
    }
    for (const [path, text] of [
      ['/api/v1/messages:send', 'Invalid push notification parameters'],
      ['/api/v1/live-activities:start', 'Invalid live activity parameters']
    ] as const) {
      const { post } = document.paths[path]!
      assert.equal((answerOf(post!, 400).content!['text/plain']!.schema as Schema).const, text)
      assert.ok(answerOf(post!, 409).content!['text/plain'], 'the idempotency key is taken')
      assert.ok(post!.parameters!.some(({ name, in: place }) => name === 'Idempotency-Key' && place === 'header'))
    }
  })
})

describe('responses match their documentation', () => {
  const refused = operations.filter(({ operation }) => operation.security.length > 0)
  it(`without credentials, ${refused.length} operations answer their documented 401`, async () => {
    for (const { method, path, operation } of refused) {
      const reply = await service.ask(method, path.replace(/\{(\w+)\}/g, '$1'))
      assert.equal(reply.status, 401, operation.operationId)
      const [[type, { schema }]] = Object.entries(answerOf(operation, 401).content!) as [[string, Content]]
      assert.ok(reply.headers['content-type']?.startsWith(type), operation.operationId)
      const resolved = '$ref' in schema ? document.components.schemas.Error : schema
      assertPasses(resolved, type === 'text/plain' ? reply.text : reply.json, operation.operationId)
    }
  })

  /** In this order: each step uses the results of those before it. */
  async function calls(): Promise<Record<string, () => Promise<Reply>>> {
    const { id, call } = await service.project()
    const pages = await service.project({ mode: 'simulator' })
    const simulator = `/projects/${pages.id}/simulator`
    const manage = (method: string, path: string, json?: unknown) =>
      service.manage(method, path, json === undefined ? {} : { json })
    const own = `/projects/${id}`
    const properties = { plan: 'premium', age: 31, vip: true, note: null }
    const user = { project_user_id: 'ana', properties }
    const device = { id: 'phone', platform: 'iOS', push_token: 'a1', model: 'iPhone' }
    const target = { project_user_id: 'ana' }
    const push = { target, title: 'Hello' }
    const ofPhone = '/api/v1/devices/phone'
    const entry = async (path: string, name: string) =>
      (await manage('GET', path)).json.items.find((one: { name: string }) => one.name === name).id
    const variants = ['a', 'b'].map((id) => ({ id, weight: 1, message: { title: id } }))
    const campaign = {
      campaign_id: 'news',
      name: 'News',
      status: 'active',
      default_audience: { broadcast: true },
      message: { title: 'Hello' },
      frequency_cap: { count: 1, within: '1d' },
      quiet_hours: { from: '22:00', to: '22:01' }
    }
    const newestTrigger = async () => (await call('GET', '/api/v1/triggers?limit=1')).json.items[0].trigger_id
    const first = async (path: string) => (await manage('GET', path)).json.items[0].id
    return {
      createUser: () => call('POST', '/api/v1/users', { json: user }),
      updateUser: () => call('PATCH', '/api/v1/users/ana', { json: { properties: { plan: 'free' } } }),
      getUser: () => call('GET', '/api/v1/users/ana'),
      removeUserProperties: () => call('POST', '/api/v1/users/ana/properties:remove', { json: { names: ['none'] } }),
      batchUsers: () => call('POST', '/api/v1/users:batch', { json: { users: [user, { project_user_id: '' }] } }),
      listProjectUsers: () => manage('GET', `${own}/users?limit=10&search=an`),
      createProjectUser: () => manage('POST', `${own}/users`, { project_user_id: 'new' }),
      getProjectUser: () => manage('GET', `${own}/users/ana`),
      updateProjectUser: () =>
        manage('PATCH', `${own}/users/ana`, { set: { plan: 'free' }, before: { plan: 'premium' } }),
      replaceProjectIndexedProperty: () => manage('PUT', `${own}/indexed-properties/plan`),
      listProjectIndexedProperties: () => manage('GET', `${own}/indexed-properties`),
      deleteProjectIndexedProperty: () => manage('DELETE', `${own}/indexed-properties/plan`),
      listProjectUserJourneys: () => manage('GET', `${own}/users/ana/journeys`),
      exportProjectUsers: () => manage('GET', `${own}/users:export`),
      importProjectUsers: () =>
        service.manage('POST', `${own}/users:import`, {
          body: '{"project_user_id":"bo"}\nnot json\n',
          headers: { 'content-type': 'application/x-ndjson' }
        }),
      createDevice: () => call('POST', '/api/v1/devices', { json: { devices: [device] } }),
      deleteDevice: () => call('DELETE', '/api/v1/devices/none'),
      createEvent: () => call('POST', '/api/v1/events', { json: { events: [{ device_id: 'phone', name: 'open' }] } }),
      postDeviceUserProjectUserId: () =>
        call('POST', `${ofPhone}/user/project-user-id`, { json: { project_user_id: 'ana' } }),
      createDeviceUserProperty: () =>
        call('POST', `${ofPhone}/user/properties`, { json: { properties: [{ name: 'a', value: 1 }] } }),
      deleteDeviceUserProperties: () => call('DELETE', `${ofPhone}/user/properties?names=a`),
      createDeviceLiveActivityStartToken: () =>
        call('POST', `${ofPhone}/live-activity-start-tokens`, {
          json: { attributes_type: 'A', push_to_start_token: 'a' }
        }),
      createDeviceLiveActivityUpdateToken: () =>
        call('POST', `${ofPhone}/live-activity-update-tokens`, {
          json: { attributes_type: 'A', activity_id: '1', push_token: 'a' }
        }),
      replaceProjectTopic: () => manage('PUT', `${own}/topics/offers`, { name: 'Offers' }),
      listProjectTopics: () => manage('GET', `${own}/topics`),
      getProjectTopic: () => manage('GET', `${own}/topics/offers`),
      getUserPreferences: () => call('GET', '/api/v1/users/ana/preferences'),
      updateUserPreferences: () => call('PATCH', '/api/v1/users/ana/preferences', { json: { opted_out: true } }),
      getDevicePreferences: () => call('GET', `${ofPhone}/preferences`),
      updateDevicePreferences: () => call('PATCH', `${ofPhone}/preferences`, { json: { topics: { offers: false } } }),
      deleteProjectTopic: () => manage('DELETE', `${own}/topics/offers`),
      rotateProjectIdentitySecret: () => manage('POST', `${own}/identity-secret:rotate`),
      listProjectDevices: () => manage('GET', `${own}/devices`),
      getProjectDevice: () => manage('GET', `${own}/devices/phone`),
      listProjectEvents: () => manage('GET', `${own}/events`),
      sendMessages: () => call('POST', '/api/v1/messages:send', { json: { push_notifications: [push] } }),
      startLiveActivities: () =>
        call('POST', '/api/v1/live-activities:start', {
          json: { live_activities: [{ target, attributes_type: 'A', attributes: {}, content_state: {} }] }
        }),
      updateLiveActivities: () =>
        call('POST', '/api/v1/live-activities:update', {
          json: { live_activities: [{ activity_id: '1', content_state: {} }] }
        }),
      endLiveActivities: () =>
        call('POST', '/api/v1/live-activities:end', {
          json: { live_activities: [{ target, attributes_type: 'A', content_state: {}, dismissal_date: 0 }] }
        }),
      listMessages: () => call('GET', '/api/v1/messages?limit=2&status=FAILED&project_user_id=ana'),
      getMessage: async () => {
        const sent = await call('POST', '/api/v1/messages:send', { json: { push_notifications: [push] } })
        return call('GET', `/api/v1/messages/${sent.json.delivery_results[0].message_id}`)
      },
      cancelMessage: async () => {
        const json = { push_notifications: [{ ...push, send_at: new Date(Date.now() + 60_000).toISOString() }] }
        const { message_id } = (await call('POST', '/api/v1/messages:send', { json })).json.delivery_results[0]
        return call('POST', `/api/v1/messages/${message_id}:cancel`)
      },
      listProjectMessages: () => manage('GET', `${own}/messages`),
      deleteDeviceUserProjectUserId: () => call('DELETE', `${ofPhone}/user/project-user-id`),
      createProjectCampaign: () => manage('POST', `${own}/campaigns`, campaign),
      replaceProjectCampaign: () => manage('PUT', `${own}/campaigns/news`, { ...campaign, name: 'Old news' }),
      listProjectCampaigns: () => manage('GET', `${own}/campaigns`),
      getProjectCampaign: () => manage('GET', `${own}/campaigns/news`),
      getProjectCampaignJourneys: () => manage('GET', `${own}/campaigns/news/journeys`),
      listProjectCampaignVersions: () => manage('GET', `${own}/campaigns/news/versions`),
      getProjectCampaignVersion: () => manage('GET', `${own}/campaigns/news/versions/1`),
      getProjectCampaignCounts: () => manage('GET', `${own}/campaigns/news/counts`),
      chooseWinnerProjectCampaign: () =>
        manage('PUT', `${own}/campaigns/tried`, { name: 'Tried', variants }).then(() =>
          manage('POST', `${own}/campaigns/tried:choose-winner`, { variant: 'b' })
        ),
      getProjectCampaignTexts: () => manage('GET', `${own}/campaigns/news/texts`),
      replaceProjectCampaignTexts: () => service.manage('PUT', `${own}/campaigns/news/texts`, { body: 'id,source\n' }),
      testProjectCampaign: () => manage('POST', `${own}/campaigns/news:test`, { device_ids: ['phone'] }),
      minutesProjectMessages: () => manage('GET', `${own}/messages:minutes`),
      previewProjectCampaigns: () =>
        manage('POST', `${own}/campaigns:preview`, { campaign: { name: 'News', message: { title: 'Hi' } } }),
      listCampaigns: () => call('GET', '/api/v1/campaigns'),
      getCampaign: () => call('GET', '/api/v1/campaigns/news'),
      getCampaignStats: () => call('GET', '/api/v1/campaigns/news/stats?by=variant'),
      previewCampaign: () => call('POST', '/api/v1/campaigns/news:preview'),
      triggerCampaign: () => call('POST', '/api/v1/campaigns/news:trigger'),
      listTriggers: () => call('GET', '/api/v1/triggers'),
      listProjectTriggers: () => manage('GET', `${own}/triggers`),
      getTrigger: async () => call('GET', `/api/v1/triggers/${await newestTrigger()}`),
      getTriggerExplain: async () =>
        call('GET', `/api/v1/triggers/${await newestTrigger()}/explain?project_user_id=ana`),
      updateTrigger: async () => {
        const json = { send_at: new Date(Date.now() + 60_000).toISOString() }
        const { trigger_id } = (await call('POST', '/api/v1/campaigns/news:trigger', { json })).json
        return call('PATCH', `/api/v1/triggers/${trigger_id}`, { json })
      },
      cancelTrigger: async () => call('POST', `/api/v1/triggers/${await newestTrigger()}:cancel`),
      getProjectTriggerStream: async () => manage('GET', `${own}/triggers/${await newestTrigger()}/stream`),
      deleteProjectCampaign: () => manage('DELETE', `${own}/campaigns/news`),
      deleteUser: () => call('DELETE', '/api/v1/users/ana'),
      createProject: () => manage('POST', '/projects', { name: 'Shop' }),
      listProjects: () => manage('GET', '/projects?limit=1'),
      getProject: () => manage('GET', own),
      updateProject: () => manage('PATCH', own, { limits: { requests_per_second: 5000 } }),
      createProjectKey: () => manage('POST', `${own}/keys`, { kind: 'public', name: 'app' }),
      listProjectKeys: () => manage('GET', `${own}/keys`),
      rotateProjectKey: async () => manage('POST', `${own}/keys/${await entry(`${own}/keys`, 'app')}:rotate`),
      deleteProjectKey: async () => manage('DELETE', `${own}/keys/${await entry(`${own}/keys`, 'app')}`),
      replaceProjectGateway: () => manage('PUT', `${own}/gateways/webpush`, { subject: 'mailto:ops@example.com' }),
      listProjectGateways: () => manage('GET', `${own}/gateways`),
      getProjectGateway: () => manage('GET', `${own}/gateways/webpush`),
      checkProjectGateway: () => manage('POST', `${own}/gateways/webpush:check`),
      deleteProjectGateway: () => manage('DELETE', `${own}/gateways/webpush`),
      listProjectAudit: () => manage('GET', `${own}/audit`),
      createToken: () => manage('POST', '/tokens', { name: 'deploy', role: 'editor', project_id: id }),
      listTokens: () => manage('GET', '/tokens'),
      deleteToken: async () => manage('DELETE', `/tokens/${await entry('/tokens', 'deploy')}`),
      listNodes: () => manage('GET', '/nodes'),
      listDeadJobs: () => manage('GET', '/dead-jobs'),
      createWebPushSimulatedSubscription: () => pages.call('POST', '/api/v1/web-push/simulated-subscriptions'),
      listWebPushSimulatedPushes: () => pages.call('GET', '/api/v1/web-push/simulated-pushes?device_id=none'),
      getWebPushPublicKey: () => pages.call('GET', '/api/v1/web-push/public-key'),
      createProjectSimulatorDevice: () => manage('POST', `${simulator}/devices`, { platform: 'WEB' }),
      replaceProjectSimulatorFaults: () => manage('PUT', `${simulator}/faults`, { apns: { down: true } }),
      getProjectSimulatorFaults: () => manage('GET', `${simulator}/faults`),
      deleteProjectSimulatorFaults: () => manage('DELETE', `${simulator}/faults`),
      listProjectSimulatorInbox: () => manage('GET', `${simulator}/inbox`),
      deleteProjectSimulatorInbox: () => manage('DELETE', `${simulator}/inbox`),
      createProjectWebhook: () =>
        manage('POST', `${own}/webhooks`, { url: 'https://hook.invalid/', events: ['message.failed'] }),
      listProjectWebhooks: () => manage('GET', `${own}/webhooks`),
      getProjectWebhook: async () => manage('GET', `${own}/webhooks/${await first(`${own}/webhooks`)}`),
      updateProjectWebhook: async () =>
        manage('PATCH', `${own}/webhooks/${await first(`${own}/webhooks`)}`, { active: false }),
      rotateSecretProjectWebhook: async () =>
        manage('POST', `${own}/webhooks/${await first(`${own}/webhooks`)}:rotate-secret`),
      testProjectWebhook: async () => manage('POST', `${own}/webhooks/${await first(`${own}/webhooks`)}:test`),
      deleteProjectWebhook: async () => manage('DELETE', `${own}/webhooks/${await first(`${own}/webhooks`)}`),
      rotateProjectWebhookSecret: () => manage('POST', `${own}/webhook-secret:rotate`),
      listProjectWebhookDeliveries: () => manage('GET', `${own}/webhook-deliveries`),
      pauseProject: () => manage('POST', `${own}:pause`),
      resumeProject: () => manage('POST', `${own}:resume`),
      deleteProject: () => manage('DELETE', own),
      getSdkTidingsJs: () => service.ask('GET', '/sdk/tidings.js'),
      getSdkTidingsSwJs: () => service.ask('GET', '/sdk/tidings-sw.js'),
      getHealthz: () => service.ask('GET', '/healthz'),
      getReadyz: () => service.ask('GET', '/readyz'),
      getHealth: () => service.ask('GET', '/api/v1/health'),
      getMetrics: () => service.ask('GET', '/metrics')
    }
  }

  it('every operation on users, devices, events, projects and gateways, and around them, answers by its schema', async () => {
    const table = await calls()
    const tried = /^(Users|Devices|Events|Messages|Live Activities|Projects|Gateways|Simulator|Campaigns|Triggers)$/
    for (const { operation } of operations)
      if (tried.test(operation.tags[0])) assert.ok(table[operation.operationId], operation.operationId)
    for (const [id, ask] of Object.entries(table)) {
      const found = operations.find(({ operation }) => operation.operationId === id)
      assert.ok(found, `${id} is documented`)
      const { status, content, headers = {} } = successOf(found.operation)
      const reply = await ask()
      assert.equal(reply.status, status, `${id}: ${reply.text}`)
      for (const name of Object.keys(headers)) assert.ok(reply.headers[name.toLowerCase()], `${id} sends ${name}`)
      const [[type, { schema }]] = Object.entries(content!) as [[string, Content]]
      assert.ok(reply.headers['content-type']?.startsWith(type), `${id}: ${reply.headers['content-type']}`)
      if (type === 'application/json') assertPasses(closed(schema as Schema), reply.json, id)
    }
  })
})

describe('GET /docs/api', async () => {
  const reply = await service.ask('GET', '/docs/api')
  const page = reply.text

  it('shows every operation and links to it', () => {
    assert.equal(reply.status, 200)
    assert.match(reply.headers['content-type']!, /^text\/html/)
    for (const { operation } of operations) {
      assert.ok(page.includes(`<article id="${operation.operationId}"`), operation.operationId)
      assert.ok(page.includes(`href="#${operation.operationId}"`), operation.operationId)
    }
    const anchors = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id!)
    for (const id of anchors) assert.ok(page.includes(` id="${id}"`), `#${id} leads somewhere`)
  })

  it('refers to nothing outside itself, and its policy forbids it', () => {
    const references = [...page.matchAll(/\b(?:src|href|action|data)="([^"]*)"/g)].map(([, target]) => target!)
    assert.ok(references.length > 50)
    for (const target of references) assert.match(target, /^(#|data:|\/openapi\.json$)/)
    assert.doesNotMatch(page, /@import|url\(/)
    const policy = String(reply.headers['content-security-policy'])
    assert.match(policy, /^default-src 'none';/)
    assert.doesNotMatch(policy, /unsafe|\*|https?:/)
  })

  it('is built for the address it is read at', async () => {
    assert.ok(page.includes(`${service.url}/api/v1/users`))
    assert.ok(!page.includes('.invalid'))
    const odd = await service.ask('GET', '/docs/api', { headers: { host: '"><script>alert(1)</script>' } })
    assert.equal(odd.text.match(/<script\b/g)?.length, 1)
  })
})
