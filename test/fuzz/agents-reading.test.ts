import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { agentOf } from '../a2a/agent.ts'
import { skills } from '../a2a/skills.ts'
import { givenCampaign, run, users } from '../support/campaigns.ts'
import fc from '../support/fuzz.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { startService } from '../support/service.ts'

// TIDINGS_LONG=1 sends twenty thousand requests.
const runs = process.env.TIDINGS_LONG ? 20_000 : 200
const service = await startService({}, { sender: scriptedSender() })
const project = await service.project({ limits: { requests_per_second: 0 } })
await givenUser(project, 'ana', 'ana-phone')
await givenCampaign(service, project)
const { trigger_id: triggerId } = await run(project, users('ana'))

const anything = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>
const text = fc.string({ unit: 'binary', maxLength: 30 })
const odd = fc.oneof(
  anything,
  text,
  fc.constantFrom<Json>('\u0000', '\ud800', 'x'.repeat(5_000), 1e308, '__proto__', '%')
)
const maybe = (...values: Json[]) =>
  fc.oneof({ weight: 3, arbitrary: fc.constantFrom<Json>(...values) }, { weight: 1, arbitrary: odd })
const ours = [...skills.values()].filter(({ extension }) => extension)
const data = fc.record(
  {
    skill: fc.constantFrom(...ours.map(({ id }) => id)),
    projectUserId: maybe('ana', 'ghost'),
    deviceId: maybe('ana-phone', 'ghost'),
    property: maybe('plan', 'constructor'),
    value: odd,
    query: maybe('news'),
    pageSize: maybe(1, 0, 1.5),
    triggerId: maybe(triggerId),
    campaignId: maybe('news', 'other'),
    targets: maybe([{ projectUserId: 'ana' }]),
    broadcast: maybe(true, false),
    properties: odd
  },
  { requiredKeys: ['skill'] }
)

describe('the skills that read, and cancel-trigger', () => {
  it('end every request as completed, rejected or with a question, and none by a fault', async () => {
    const agent = agentOf(service, project, 'plain')
    const ends = new Map<string, number>()
    await fc.assert(
      fc.asyncProperty(data, async (fields) => {
        const reply = await agent.call('send', { message: agent.message(fields) })
        assert.equal(reply.status, 200, reply.text)
        const end = reply.json.error ? `error ${reply.json.error.code}` : reply.json.result.task.status.state
        ends.set(end, (ends.get(end) ?? 0) + 1)
        assert.match(end, /^(completed|rejected|input-required|error -32602)$/, reply.text)
      }),
      { numRuns: runs }
    )
    for (const end of ['completed', 'rejected', 'input-required'])
      assert.ok(ends.get(end)! > runs / 50, `${end} was seen`)
  })
})
