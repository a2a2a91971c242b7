import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { givenMany } from '../campaigns.ts'
import { withClient } from '../database.ts'
import { ask, type Json } from '../http.ts'
import { type Program, root, startProgram, temporaryFolder } from '../program.ts'
import type { Receiver } from '../receiver.ts'
import type { TestProject, TestService } from '../service.ts'
import type { startGateway } from './gateway.ts'
import { adminToken, project, secretKey } from './load.ts'

type Role = 'all' | 'api' | 'worker'

export interface MixedNode {
  role: Role
  /** The name under which its pushes arrive. */
  name: string
  program: Program
  url: string
}

export interface Nodes {
  database: string
  gateway: Awaited<ReturnType<typeof startGateway>>
}

/** Nodes in separate processes on one database and one gateway, of this code or of the code in another folder. */
export function mixedNodes(t: TestContext, { database, gateway }: Nodes) {
  let started = 0
  // All nodes are on one machine, and a node that is restarted finds the folder of the one that died.
  let folder: Promise<string> | undefined
  const dataDir = () => (folder ??= temporaryFolder(t))
  /** `within`: a command that runs the node, as `nice` would. */
  async function start(role: Role, tree: string = root, within: string[] = []): Promise<MixedNode> {
    started += 1
    const name = `${role}-${started}`
    const env = {
      DATA_DIR: await dataDir(),
      DATABASE_URL: database,
      MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      BOOTSTRAP_PROJECT_ID: project,
      BOOTSTRAP_SECRET_KEY: secretKey,
      BOOTSTRAP_ADMIN_TOKEN: adminToken,
      WEBHOOK_ALLOW_PRIVATE: 'true',
      SHUTDOWN_SECONDS: '20',
      ROLE: role,
      ...gateway.settingsOf(name)
    }
    const program = startProgram(t, env, [...within, process.execPath, join(tree, 'test/support/gateway-node.ts')])
    return { role, name, program, url: await program.ready }
  }
  const sql = async (text: string, values?: unknown[]): Promise<Json[]> =>
    (await withClient(database, (client) => client.query(text, values))).rows
  return { start, sql }
}

/** One call of an operator. */
export async function manage(url: string, method: string, path: string, json?: Json): Promise<Json> {
  const headers = { authorization: `Bearer ${adminToken}` }
  const reply = await ask(url, method, `/manage/v1/projects/${project}${path}`, { headers, ...(json && { json }) })
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`)
  return reply.json
}

export interface Furniture {
  people: number
  receiver: Receiver
  sql: (text: string, values?: unknown[]) => Promise<Json[]>
  /** When scheduled campaigns are sent. */
  occurrences: Date[]
}

/** Phones, a campaign for triggers, scheduled campaigns and a webhook. */
export async function furnish(url: string, { people, receiver, sql, occurrences }: Furniture): Promise<void> {
  await manage(url, 'PATCH', '', { limits: { requests_per_second: 0, triggers_per_second: 0 } })
  await givenMany({ sql } as unknown as TestService, { id: project } as TestProject, people, 'p')
  const active = { status: 'active', message: { title: '{{ trigger.name }}' } }
  await manage(url, 'PUT', '/campaigns/news', { name: 'News', ...active })
  for (const [n, at] of occurrences.entries())
    await manage(url, 'PUT', `/campaigns/digest-${n}`, {
      name: `Digest ${n}`,
      status: 'active',
      message: { title: `digest-${n}` },
      type: 'scheduled',
      schedule: { at: at.toISOString().slice(0, 19) },
      default_audience: { broadcast: true }
    })
  const events = ['message.accepted', 'message.failed', 'trigger.completed']
  await manage(url, 'POST', '/webhooks', { url: receiver.url, events, active: true })
}
