import assert from 'node:assert/strict'
import { ask, type Json, type Reply } from '../http.ts'
import { codeOf, cookiesOf, goodPassword } from '../members.ts'

/** In the data of the project that no caller may see. No request contains it. */
export const marker = 'quiet-hedgehog'

export type Headers = Record<string, string>

/** A kind of caller. `everywhere`: it may read all projects. */
export interface Caller {
  name: string
  headers: Headers
  everywhere?: boolean
}

/** Things that requests can name, by the name of their field, newest last. */
export type Known = Map<string, string[]>

export interface World {
  projectId: string
  callers: Record<'secret' | 'public' | 'agent' | 'admin' | 'projectAdmin' | 'viewer' | 'member', Caller>
  strangers: Caller[]
  known: Known
  /** Ids of the callers and their keys: a request that named one could end them. */
  kept: string[]
}

const unlimited = { requests_per_second: 0, client_requests_per_second: 0, triggers_per_second: 0 }

/** Makes what the requests need: projects with things in them, and a caller of each kind. */
export function worldMaker(url: string, adminToken: string) {
  const authorization = `Bearer ${adminToken}`
  const must = ({ status, text, ...reply }: Reply): Json => {
    assert.ok(status < 300, `setting up failed: ${status} ${text}`)
    return text ? JSON.parse(text) : reply
  }
  const manage = async (method: string, path: string, json?: unknown): Promise<Json> =>
    must(
      await ask(url, method, `/manage/v1${path}`, { ...(json !== undefined && { json }), headers: { authorization } })
    )
  const number = () => Math.random().toString(36).slice(2, 10)

  let kept: string[] = []

  async function project(words: string) {
    const { id } = await manage('POST', '/projects', { name: words, mode: 'simulator', limits: unlimited })
    const keyOf = async (kind: string): Promise<string> => {
      const made = await manage('POST', `/projects/${id}/keys`, { kind, name: words })
      kept.push(made.id)
      return made.key
    }
    const [secret, open] = [await keyOf('secret'), await keyOf('public')]
    const call = async (method: string, path: string, json: unknown): Promise<Json> =>
      must(
        await ask(url, method, `/api/v1${path}`, {
          json,
          headers: { 'x-service-project-id': id, 'x-service-api-key': secret }
        })
      )
    const own = (method: string, path: string, json?: unknown) => manage(method, `/projects/${id}${path}`, json)
    return { id: id as string, secret, open, call, own }
  }
  type Made = Awaited<ReturnType<typeof project>>

  /** Users, devices, campaigns and the rest, with the words in every text. Returns their ids. */
  async function furnish({ id, secret, call, own }: Made, words: string, prefix = ''): Promise<Known> {
    const [user, phone, campaign] = [`${prefix}ana`, `${prefix}ana-phone`, `${prefix}welcome`]
    await call('POST', '/users', { project_user_id: user, properties: { plan: words, age: 31 } })
    const device = { id: phone, platform: 'IOS', push_token: 'ab'.repeat(32), push_token_type: 'APNS', model: words }
    await call('POST', '/devices', { devices: [device] })
    await call('POST', `/devices/${phone}/user/project-user-id`, { project_user_id: user })
    await own('PUT', `/campaigns/${campaign}`, {
      name: words,
      status: 'active',
      message: { title: words, body: 'Dear {{ user.plan }}' }
    })
    await own('PUT', `/topics/${prefix}offers`, { name: words })
    await own('PUT', `/segments/${prefix}premium`, { name: words, segment: { all: [] } })
    const webhook = await own('POST', '/webhooks', { url: 'http://127.0.0.1:65533/x', events: ['message.failed'] })
    const target = { project_user_id: user }
    const sent = await call('POST', '/messages:send', { push_notifications: [{ target, title: words }] })
    const { trigger_id } = await call('POST', `/campaigns/${campaign}:trigger`, { audience: { targets: [target] } })
    const data = { skill: 'create-user', projectUserId: user, properties: { plan: words } }
    const params = { message: { messageId: number(), role: 'user', parts: [{ data }] } }
    const asked = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params }
    const headers = { 'x-api-key': secret, 'a2a-version': '1.0' }
    const { task } = must(await ask(url, 'POST', '/a2a', { json: asked, headers })).result
    return new Map(
      Object.entries({
        project_id: id,
        project_user_id: user,
        device_id: phone,
        campaign_id: campaign,
        topic: `${prefix}offers`,
        segment_id: `${prefix}premium`,
        webhook_id: webhook.id,
        message_id: sent.delivery_results[0].message_id,
        trigger_id,
        task_id: task.id,
        gateway: 'apns',
        name: 'plan',
        version: '1',
        document: 'create-user'
      }).map(([name, value]) => [name, [value]])
    )
  }

  const tokenOf = async (role: string, projectId?: string): Promise<Headers> => {
    const made = await manage('POST', '/tokens', { name: role, role, ...(projectId && { project_id: projectId }) })
    kept.push(made.id)
    return { authorization: `Bearer ${made.token}` }
  }

  async function memberOf(projectId: string): Promise<Headers> {
    const email = `${number()}@example.com`
    const { id, invitation } = await manage('POST', '/members', { email, role: 'admin', project_id: projectId })
    kept.push(id)
    const json = { code: codeOf(invitation), name: 'Ada', password: goodPassword }
    const accepted = await ask(url, 'POST', '/console/link:accept', { json })
    must(accepted)
    return { cookie: cookiesOf(accepted), 'x-tidings-console': '1' }
  }

  return {
    manage,
    /** The project that no caller may see, and the ids of its things. */
    async hidden(): Promise<Known> {
      const made = await project(marker)
      return furnish(made, marker, 'hidden-')
    },
    /** A project to send hostile requests to, and its callers. */
    async fresh(): Promise<World> {
      kept = []
      const made = await project('Shop')
      const known = await furnish(made, 'Premium')
      const spare = await project('Spare')
      known.set('spare_project_id', [spare.id])
      const other = { 'x-service-project-id': spare.id, 'x-service-api-key': spare.secret }
      const api = (key: string) => ({ 'x-service-project-id': made.id, 'x-service-api-key': key })
      const admin = await tokenOf('admin')
      const strangers: Caller[] = [
        { name: 'nobody', headers: {} },
        { name: 'another project', headers: other },
        { name: 'a key of another project', headers: { ...other, 'x-service-project-id': made.id } },
        { name: 'an empty key', headers: api('') },
        { name: 'a long key', headers: api(`svc_sk_${'x'.repeat(3_000)}`) },
        { name: 'no key', headers: api('__proto__') },
        { name: 'an unknown token', headers: { authorization: 'Bearer svc_at_unknown' } },
        { name: 'another scheme', headers: { authorization: 'Basic YTpi' } },
        {
          name: 'a broken cookie',
          headers: { cookie: 'tidings_session=%zz; __proto__=1;;=', 'x-tidings-console': '1' }
        },
        {
          name: 'two kinds at once',
          headers: { ...admin, ...api(made.open), 'x-api-key': made.open },
          everywhere: true
        }
      ]
      return {
        projectId: made.id,
        known,
        kept,
        strangers,
        callers: {
          secret: { name: 'secret', headers: api(made.secret) },
          public: { name: 'public', headers: api(made.open) },
          agent: { name: 'agent', headers: { 'x-api-key': made.secret } },
          admin: { name: 'admin', headers: admin, everywhere: true },
          projectAdmin: { name: 'project admin', headers: await tokenOf('admin', made.id) },
          viewer: { name: 'viewer', headers: await tokenOf('viewer', made.id) },
          member: { name: 'member', headers: await memberOf(made.id) }
        }
      }
    }
  }
}
