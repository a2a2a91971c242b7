// Clients that other people's generators make from /openapi.json (`npm run test:generators`). The generators are installed
// into a folder of their own: they need TypeScript 5, whose interface for programs later versions do not have.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { outputOf } from '../support/children.ts'
import { root, temporaryFolder } from '../support/program.ts'
import { startService } from '../support/service.ts'

const dependencies = { 'openapi-typescript': '7.13.0', '@hey-api/openapi-ts': '0.99.0', typescript: '5.9.3' }
const installs = process.env.TIDINGS_CLIENTS_DIR ?? join(homedir(), '.cache', 'tidings-clients')
const service = await startService()

const strict = {
  target: 'es2022',
  lib: ['es2023', 'dom', 'dom.iterable'],
  module: 'esnext',
  moduleResolution: 'bundler',
  strict: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  types: []
}

/** Calls by the names and types that people read in the generated code. */
const uses = `
import { getTrigger, listMessages, sendMessages, triggerCampaign, type DeliveryResult, type Trigger } from './hey'
import { client } from './hey/client.gen'
import type { components, operations, paths } from './types'

export type Campaign = components['schemas']['Campaign']
export type Sent = operations['sendMessages']['responses'][200]['content']['application/json']
export type Path = paths['/api/v1/triggers/{trigger_id}']['get']
type Problem = components['schemas']['Problem']
export const explained = (problem: Problem): string => problem.code ?? problem.error

client.setConfig({ baseUrl: 'http://127.0.0.1', auth: ({ name }) => (name === 'X-Service-Project-ID' ? 'demo' : 'key') })

export async function tour(): Promise<Trigger | undefined> {
  const sent = await sendMessages({ body: { push_notifications: [{ target: { project_user_id: 'ana' }, title: 'Hi' }] } })
  const first: DeliveryResult | undefined = sent.data?.delivery_results[0]
  if (first?.status === 'DELIVERY_RESULT_STATUS_FAILED') throw new Error(first.additional_params.failure_reason)
  const page = await listMessages({ query: { limit: 10 } })
  page.data?.items.map(({ state, kind }) => (state === 'accepted' ? kind : null))
  const started = await triggerCampaign({
    path: { campaign_id: 'welcome' },
    headers: { 'Idempotency-Key': 'order-1' },
    body: { audience: { targets: [{ project_user_id: 'ana' }] }, properties: { code: 'SPRING' } }
  })
  if (!started.data) throw new Error(String(started.error))
  const { data } = await getTrigger({ path: { trigger_id: started.data.trigger_id } })
  return data?.state === 'completed' ? data : undefined
}
`

describe('clients generated from /openapi.json', () => {
  it('by openapi-typescript and @hey-api/openapi-ts compile under strict, with names that people can read', async (t) => {
    const generators = await installed(t)
    const folder = await temporaryFolder(t)
    await writeFile(join(folder, 'openapi.json'), (await service.ask('GET', '/openapi.json')).text)
    const bin = join(generators, 'node_modules', '.bin')
    await run(t, folder, join(bin, 'openapi-typescript'), 'openapi.json', '-o', 'types.ts')
    await run(t, folder, join(bin, 'openapi-ts'), '-i', 'openapi.json', '-o', 'hey')
    await writeFile(join(folder, 'uses.ts'), uses)
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: strict, files: ['uses.ts'] }))
    await run(t, folder, join(root, 'node_modules/.bin/tsc'), '-p', folder)
  })
})

/** Installs without scripts, once for each set of versions. */
async function installed(t: TestContext): Promise<string> {
  const folder = join(installs, `generators-${Object.values(dependencies).join('-')}`)
  const mark = join(folder, 'installed.json')
  const manifest = JSON.stringify({ private: true, type: 'module', dependencies })
  if ((await readFile(mark, 'utf8').catch(() => '')) === manifest) return folder
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), manifest)
  await run(t, folder, 'npm', 'install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund')
  await writeFile(mark, manifest)
  return folder
}

const run = (t: TestContext, cwd: string, command: string, ...args: string[]): Promise<string> =>
  outputOf(t, command, args, { cwd, timeout: 400_000 })
