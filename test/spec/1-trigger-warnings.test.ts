import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ended, givenCampaign, invalid, trigger, users } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { startService } from '../support/service.ts'

const service = await startService({}, { sender: scriptedSender() })
const project = await service.project()
await givenUser(project, 'ana', 'ana-phone')
await givenUser(project, 'bo', 'bo-phone')
await givenCampaign(service, project, { default_audience: { broadcast: true } })
const targets = [{ project_user_id: 'ana' }]
const warned = async (body: Json): Promise<unknown> => {
  const reply = await trigger(project, body)
  assert.equal(reply.status, 200, reply.text)
  return reply.headers['x-service-warning']
}

describe('B.1: a trigger body with unknown top-level fields', () => {
  it('is 200 as before, and the header names the field', async () => {
    const reply = await trigger(project, { recipients: targets })
    assert.deepEqual([reply.status, Object.keys(reply.json)], [200, ['trigger_id']])
    assert.equal(reply.headers['x-service-warning'], 'unknown field "recipients"')
    assert.equal((await ended(project, reply.json.trigger_id)).counts.targeted, 2, 'the default audience, as before')
  })

  it('warns of fields that were meant as an audience: targets at the top, other cases, other names', async () => {
    for (const name of ['targets', 'broadcast', 'Audience', 'audiences', 'Properties', 'project_user_id', ''])
      assert.equal(await warned({ [name]: targets }), `unknown field "${name}"`)
    assert.equal(await warned({ ...users('ana'), targets: [] }), 'unknown field "targets"', 'beside an audience too')
  })

  it('names at most five, in at most 256 characters', async () => {
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`f${index}`, 1]))
    assert.equal(await warned(many), 'unknown field "f0", "f1", "f2", "f3", "f4"')
    const long = 'x'.repeat(200)
    assert.equal(await warned({ [long]: 1 }), `unknown field "${long}"`)
    const longer = String(await warned(Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`${n}${long}`, 1]))))
    assert.ok(longer.length <= 256 && longer.split('", "').length === 5, longer)
    assert.ok(String(await warned({ ['ü'.repeat(100_000)]: 1 })).length <= 256)
  })

  it('a hostile name cannot add a header, end the quotes or leave printable ASCII', async () => {
    for (const [name, shown] of [
      ['a\r\nSet-Cookie: x=1', 'a\\u{d}\\u{a}Set-Cookie: x=1'],
      ['a\u2028b\u0085c\u007f', 'a\\u{2028}b\\u{85}c\\u{7f}'],
      ['", "b', '\\", \\"b'],
      ['\\', '\\\\'],
      ['ünï 🎉', '\\u{fc}n\\u{ef} \\u{1f389}'],
      ['__proto__', '__proto__'],
      ['constructor', 'constructor']
    ] as const) {
      const reply = await trigger(project, undefined, 'news', {
        body: `{${JSON.stringify(name)}: 1}`,
        headers: { 'content-type': 'application/json' }
      })
      assert.deepEqual([reply.status, reply.headers['x-service-warning']], [200, `unknown field "${shown}"`])
      assert.equal(reply.headers['set-cookie'], undefined)
    }
  })

  it('a repeat under a key is warned too; a good body and a refusal are not', async () => {
    const headers = { 'idempotency-key': 'once' }
    for (const replayed of [undefined, 'true']) {
      const reply = await trigger(project, { to: 'ana' }, 'news', { headers })
      assert.equal(reply.headers['idempotent-replay'], replayed)
      assert.equal(reply.headers['x-service-warning'], 'unknown field "to"')
    }
    for (const good of [undefined, {}, { audience: null }, { ...users('ana'), properties: { any: 1 } }])
      assert.equal(await warned(good), undefined)
    const refused = await trigger(project, { audience: [], to: 1 })
    assert.deepEqual([refused.status, refused.headers['x-service-warning']], [400, undefined])
  })

  it(':preview returns them in warnings, of a saved campaign and of one that is not', async () => {
    const preview = await project.call('POST', '/api/v1/campaigns/news:preview', {
      json: { recipients: targets, Audience: 1 }
    })
    assert.deepEqual(preview.json.warnings, ['unknown field "recipients"', 'unknown field "Audience"'])
    assert.deepEqual((await project.call('POST', '/api/v1/campaigns/news:preview')).json.warnings, [])
    const draft = await service.manage('POST', `/projects/${project.id}/campaigns:preview`, {
      json: { campaign: { name: 'Draft', message: { title: 'x' } }, to: 'ana' }
    })
    assert.deepEqual(draft.json.warnings, ['unknown field "to"'])
  })

  it('an invalid audience is refused, never treated as absent', async () => {
    for (const audience of [[], 'ana', 0, false, true, { targets: {} }, { broadcast: 'true' }, { broadcast: 1 }]) {
      const reply = await trigger(project, { audience })
      assert.deepEqual([reply.status, reply.text], [400, invalid], JSON.stringify(audience))
    }
    for (const target of [{ projectUserId: 'ana' }, { Project_user_id: 'ana' }, 'ana', {}, { userId: 'x' }]) {
      const reply = await trigger(project, { audience: { targets: [target] } })
      assert.deepEqual([reply.status, reply.text], [400, invalid], JSON.stringify(target))
    }
    const nobody = await trigger(project, { audience: { target: targets, Targets: targets, Broadcast: true } })
    assert.equal((await ended(project, nobody.json.trigger_id)).counts.targeted, 0)
  })
})
