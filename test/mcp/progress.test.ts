import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createFollow } from '../../src/mcp/progress.ts'
import type { ProjectId } from '../../src/platform/ids.ts'
import type { Triggers } from '../../src/triggers/triggers.ts'
import { givenCampaign } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { overHttp } from './clients.ts'

const projectId = 'shop' as ProjectId
const rowOf = (sent: number, ended = false) => ({
  state: ended ? 'completed' : 'running',
  ended_at: ended ? new Date() : null,
  targeted: '3',
  sent: String(sent),
  failed: '0',
  skipped: '0',
  delivered: '0',
  tapped: '0'
})

/** Follows a trigger whose rows are given one by one, and returns the notifications that the client gets. */
async function followed(
  rows: Json[],
  { meta = { progressToken: 't' } as Json, signal = new AbortController().signal, limits = {} }
) {
  const told: Json[] = []
  const triggers = { get: async () => (rows.length > 1 ? rows.shift() : rows[0]) } as unknown as Triggers
  const mcpReq = { _meta: meta, signal, notify: async (one: Json) => void told.push(one.params) }
  const follow = createFollow(triggers, new AbortController().signal, { lookMs: 5, longestMs: 60_000, ...limits })
  await follow(projectId, 'trigger-1', { mcpReq } as unknown as Parameters<typeof follow>[2])
  return told
}

describe('progress of a trigger', () => {
  it('is told whenever it has grown, until the trigger has ended', async () => {
    const told = await followed([rowOf(0), rowOf(0), rowOf(2), rowOf(3, true)], {})
    assert.deepEqual(
      told.map(({ progress, total }) => [progress, total]),
      [
        [0, 3],
        [2, 3],
        [3, 3]
      ]
    )
    assert.match(told[2]!.message, /^The trigger is completed: 3 sent/)
  })

  it('grows with every notification, also with one of a trigger that had nothing to do', async () => {
    assert.deepEqual(
      (await followed([rowOf(0), rowOf(0, true)], {})).map(({ progress }) => progress),
      [0, 1]
    )
  })

  it('is told to clients that ask for it alone', async () => {
    assert.deepEqual(await followed([rowOf(0)], { meta: {} }), [])
  })

  it('ends after its time, when the client goes away, and where too many wait already', async () => {
    assert.equal((await followed([rowOf(0)], { limits: { longestMs: 200 } })).length, 1)
    const gone = AbortSignal.timeout(20)
    assert.equal((await followed([rowOf(0)], { signal: gone })).length, 1)
    assert.deepEqual(await followed([rowOf(0)], { limits: { mostWaiting: 0 } }), [])
  })

  it('does not keep a node from stopping: the call returns its result', async () => {
    const service = await startService()
    const project = await service.project({ mode: 'simulator' })
    await givenCampaign(service, project)
    // A paused project accepts triggers, and they wait.
    assert.equal((await service.manage('POST', `/projects/${project.id}:pause`)).status, 200)
    const client = await overHttp('2.4.0', service.url, { 'x-api-key': project.secretKey })
    const began = Promise.withResolvers<void>()
    const call = client.callTool(
      { name: 'trigger-campaign', arguments: { campaignId: 'news', targets: [{ projectUserId: 'ana' }] } },
      { onprogress: () => began.resolve() } as never
    )
    await began.promise
    const before = performance.now()
    const [result] = await Promise.all([call as Promise<Json>, service.close()])
    assert.ok(performance.now() - before < 5_000)
    assert.match(result.structuredContent.triggerId, /^[0-9a-f-]{36}$/)
  })
})
