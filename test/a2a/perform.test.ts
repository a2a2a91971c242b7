import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createPerform, type Performance } from '../../src/a2a/perform.ts'
import { describedSkills } from '../../src/a2a/skills/skills.ts'
import type { Json } from '../support/http.ts'

/** Performs a trigger of a campaign whose default audience is not everyone, and returns what the engine gets. */
async function taken(fields: Json, caller: Json = {}): Promise<{ data: Json; key: string } | undefined> {
  const skills = describedSkills()
  let sent: { data: Json; key: string } | undefined
  const perform = createPerform({
    skills,
    oversight: {
      audienceOf: async (_: unknown, { audience }: Json) => ({
        broadcast: false,
        ...(!audience && { campaignVersion: 3 })
      })
    },
    engine: {
      take: async (_: unknown, { message }: Json, __: unknown, { key }: Json) => {
        sent = { data: message.parts[0].data, key: key.key.replace(` ${message.messageId}`, '') }
        return { settled: Promise.resolve({ status: { state: 'completed' } }) }
      }
    }
  } as unknown as Parameters<typeof createPerform>[0])
  const from = { project: { id: 'shop' }, actor: 'key 1', ...caller }
  await perform({ caller: from, fields, skill: skills.get('trigger-campaign') } as unknown as Performance)
  return sent
}

const sentData = async (fields: Json): Promise<Json | undefined> => (await taken(fields))?.data

describe('a trigger that is performed for another protocol', () => {
  it('by the default audience of its campaign runs with the version that was looked at, and with no other', async () => {
    assert.deepEqual(await sentData({ campaignId: 'news' }), {
      skill: 'trigger-campaign',
      campaignId: 'news',
      campaignVersion: 3
    })
    assert.equal(await sentData({ campaignId: 'news', campaignVersion: 2 }), undefined, 'which is not the wanted one')
  })

  it('for targets of its own runs with any version', async () => {
    assert.equal(
      (await sentData({ campaignId: 'news', targets: [{ projectUserId: 'ana' }] })).campaignVersion,
      undefined
    )
  })
})

describe('a request that is performed for another protocol', () => {
  it('has the idempotency keys of the first API key of a chain of rotations', async () => {
    const by = async (id: string, originId: string) =>
      (await taken({ campaignId: 'news' }, { actor: `key ${id}`, key: { id, originId, policy: null } }))?.key
    assert.deepEqual([await by('1', '1'), await by('2', '1'), await by('3', '3')], ['key 1', 'key 1', 'key 3'])
  })
})
