import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { everyone, givenCampaign, put, run, users } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { startService, type TestProject } from '../support/service.ts'

const service = await startService({}, { sender: scriptedSender() })

/** A project with Bo, who is 19 and has a phone with version 2.0 of the app. */
async function projectWithBo(properties: Json = { plan: 'free', age: 19 }): Promise<TestProject> {
  const project = await service.project()
  await givenUser(project, 'bo', { id: `bo-${project.id}`, push_token: 'ab12', app_version: '2.0' })
  await put(project, 'bo', properties)
  return project
}

async function explained(project: TestProject, trigger: Json): Promise<Json> {
  const { trigger_id } = await run(project, trigger)
  const { status, json, text } = await project.call('GET', `/api/v1/triggers/${trigger_id}/explain?project_user_id=bo`)
  assert.equal(status, 200, text)
  return json
}
const gateOf = ({ gates }: Json, name: string) => gates.find(({ gate }: Json) => gate === name)

/** The conditions as `no age is 19, needs more than 30`, those of groups behind a dash. */
const lines = (conditions: Json[] = [], dash = ''): string[] =>
  conditions.flatMap(({ passed, message, conditions: inner }) => [
    `${dash}${passed ? 'yes' : 'no'} ${message}`,
    ...lines(inner, `${dash}- `)
  ])

describe('an explanation', () => {
  it('names the value that each condition of the segment met', async () => {
    const project = await projectWithBo()
    const json = { events: [{ device_id: `bo-${project.id}`, name: 'purchase', properties: { amount: 12 } }] }
    assert.equal((await project.call('POST', '/api/v1/events', { json })).status, 200)
    const saved = { name: 'Linz', segment: { attribute: 'user.city', operator: 'in', value: ['Linz', 'Wels'] } }
    await service.manage('PUT', `/projects/${project.id}/segments/linz`, { json: saved })
    const user = (attribute: string, operator: string, value?: unknown) => ({
      attribute: `user.${attribute}`,
      operator,
      ...(value !== undefined && { value })
    })
    await givenCampaign(service, project, {
      segment: {
        all: [
          user('age', 'greater_than', 30),
          user('age', 'less_than', '30'),
          user('plan', 'not_equals', 'free'),
          user('name', 'exists'),
          { not: user('plan', 'starts_with', 'fr') },
          { not: { any: [user('age', 'equals', 19), user('plan', 'equals', 'gold')] } },
          { any: [user('age', 'greater_or_equal', 19), { ref: 'linz' }] },
          { attribute: 'device.app_version', operator: 'greater_or_equal', value: '2.10' },
          { event: 'purchase', operator: 'at_least', count: 3, within: '30d' },
          {
            event: 'purchase',
            operator: 'exactly',
            count: 1,
            where: [{ attribute: 'event.amount', operator: 'greater_than', value: 10 }]
          },
          { not: { event: 'refund', operator: 'at_least', count: 1 } },
          { ref: 'linz' }
        ]
      }
    })
    const gate = gateOf(await explained(project, users('bo')), 'segment')
    assert.match(
      gate.message,
      /^The user was not in the segment when the trigger ran. Now: age is 19, needs more than 30; /
    )
    assert.deepEqual(lines(gate.conditions), [
      'no age is 19, needs more than 30',
      'no age is the number 19, needs less than the text "30"',
      'no plan is "free", must not be "free"',
      'no name is not set, needs a value',
      'no plan is "free", must not start with "fr"',
      'no All of these',
      '- no age is 19, must not be 19',
      '- yes plan is "free", must not be "gold"',
      'yes At least one of these',
      '- yes age is 19, needs at least 19',
      '- no In the saved segment "linz"',
      '- - no city is not set, needs one of "Linz", "Wels"',
      'no app version is "2.0", needs at least "2.10"',
      'no did "purchase" once in the last 30d, needs at least 3',
      'yes did "purchase" where amount is more than 10 once, needs exactly 1',
      'yes did not do "refund", needs fewer than 1',
      'no In the saved segment "linz"',
      '- no city is not set, needs one of "Linz", "Wels"'
    ])
  })

  it('names the trigger property that a condition lacks', async () => {
    const project = await projectWithBo()
    await givenCampaign(service, project, {
      segment: { attribute: 'user.plan', operator: 'equals', value: '{{ trigger.plan }}' }
    })
    const gate = gateOf(await explained(project, users('bo')), 'segment')
    assert.deepEqual(lines(gate.conditions), ['no plan is compared with trigger.plan, which the trigger does not have'])
    const other = gateOf(await explained(project, { ...users('bo'), properties: { plan: 'gold' } }), 'segment')
    assert.deepEqual(lines(other.conditions), ['no plan is "free", needs "gold"'])
  })

  it('names the limit, the topic and the quiet hours that decided, in the time zone of the user', async () => {
    const project = await projectWithBo({ timezone: 'Europe/Vienna' })
    await service.manage('PUT', `/projects/${project.id}/topics/offers`, {
      json: { name: 'Offers', default: 'unsubscribed' }
    })
    const ruleOf = async (fields: Json) => {
      await givenCampaign(service, project, fields)
      const { devices } = await explained(project, everyone)
      return devices[0].gates[0].message
    }
    assert.match(await ruleOf({ topic: 'offers' }), /topic of this campaign: "offers"\.$/)
    const quiet_hours = { from: '00:00', to: '23:59', timezone: 'user', action: 'skip' }
    assert.match(await ruleOf({ quiet_hours }), /: 00:00 to 23:59, Europe\/Vienna\.$|^The message was written/)
    const frequency_cap = { count: 1, within: '24h' }
    await ruleOf({ frequency_cap })
    assert.match(await ruleOf({ frequency_cap }), /frequency cap allows: 1 within 24h\.$/)
  })
})
