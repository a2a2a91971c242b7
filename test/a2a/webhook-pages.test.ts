import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { type Agent, agentOf } from './agent.ts'

const service = await startService({}, { agents: { refuseAddress: async () => null } })
const project = await service.project()
const idsOf = ({ configs }: Json): string[] => configs.map(({ id }: Json) => id)

/** A task with these webhooks. */
async function given(agent: Agent, ids: string[]): Promise<string> {
  const { id: taskId } = await agent.send({ skill: 'create-user' })
  for (const id of ids) await agent.result('createConfig', { taskId, id, url: 'https://hook.example/a' })
  return taskId
}

for (const name of ['plain', 'official'] as const) {
  const agent = agentOf(service, project, name)
  const tenant = name === 'official' ? { tenant: 'a2a' } : {}

  describe(`the list of a task's webhooks for the ${name} spelling`, () => {
    it('comes in pages of the wanted size, each webhook once and in the same order', async () => {
      // Ids are the caller's own words, in any script and order.
      const ids = ['é'.repeat(255), 'b', 'B', 'a', 'Ä', '9', '10']
      const taskId = await given(agent, ids)
      const whole = idsOf(await agent.result('listConfigs', { taskId, ...tenant }))
      assert.deepEqual([...whole].sort(), [...ids].sort(), 'without a size')
      for (const pageSize of [1, 2, 3, 7, 100]) {
        const seen: string[][] = []
        let pageToken = ''
        do {
          const page = await agent.result('listConfigs', { taskId, pageSize, pageToken, ...tenant })
          seen.push(idsOf(page))
          pageToken = page.nextPageToken ?? ''
        } while (pageToken !== '')
        assert.deepEqual(seen.flat(), whole)
        assert.equal(seen.length, Math.ceil(ids.length / pageSize))
        assert.ok(seen.slice(0, -1).every(({ length }) => length === pageSize))
      }
    })

    it('goes on behind a webhook that was removed or changed meanwhile', async () => {
      const taskId = await given(agent, ['a', 'b', 'c', 'd'])
      const { nextPageToken: pageToken } = await agent.result('listConfigs', { taskId, pageSize: 2, ...tenant })
      await agent.result('deleteConfig', { taskId, id: 'b' })
      await agent.result('createConfig', { taskId, id: 'c', url: 'https://hook.example/other' })
      const rest = await agent.result('listConfigs', { taskId, pageToken, ...tenant })
      assert.deepEqual(idsOf(rest), ['c', 'd'])
    })

    it('refuses wrong sizes and tokens with -32602', async () => {
      const taskId = await given(agent, ['a', 'b'])
      const sealed = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
      const wrong = [
        ...[0, -1, 101, 1.5, '1', true].map((pageSize) => ({ pageSize })),
        ...[
          'x',
          7,
          sealed(7),
          sealed([1]),
          sealed(['a', 'b']),
          sealed([1, 2]),
          sealed([-1, 'a']),
          sealed([1e20, 'a'])
        ].map((pageToken) => ({ pageToken })),
        ...['\0', '\ud800', 'x'.repeat(5_000)].map((id) => ({ pageToken: sealed([1, id]) }))
      ]
      const farAway = await agent.result('listConfigs', { taskId, pageToken: sealed([8.64e15, 'a']), ...tenant })
      assert.deepEqual(idsOf(farAway), [], 'nothing is behind the last moment there is')
      for (const more of wrong) {
        const error = await agent.error('listConfigs', { taskId, ...more })
        assert.equal(error.code, -32602, JSON.stringify(more))
      }
    })
  })
}
