import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createPerform, type Performance } from '../../src/a2a/perform.ts'
import { describedSkills } from '../../src/a2a/skills/skills.ts'
import type { Json } from '../support/http.ts'

/** Performs a trigger of a campaign whose default audience is not everyone, and returns the data that the engine gets. */
async function sentData(fields: Json): Promise<Json | undefined> {
  const skills = describedSkills()
  let sent: Json | undefined
  const perform = createPerform({
    skills,
    oversight: {
      audienceOf: async (_: unknown, { audience }: Json) => ({
        broadcast: false,
        ...(!audience && { campaignVersion: 3 })
      })
    },
    engine: {
      take: async (_: unknown, sending: Json) => {
        sent = sending.message.parts[0].data
        return { settled: Promise.resolve({ status: { state: 'completed' } }) }
      }
    }
  } as unknown as Parameters<typeof createPerform>[0])
  const caller = { project: { id: 'shop' }, actor: 'key 1' }
  await perform({ caller, fields, skill: skills.get('trigger-campaign') } as unknown as Performance)
  return sent
}

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
