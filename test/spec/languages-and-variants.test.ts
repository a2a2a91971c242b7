import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { createWinners } from '../../src/campaigns/texts/winner.ts'
import { openPool } from '../../src/platform/db/db.ts'
import type { ProjectId } from '../../src/platform/ids.ts'
import { everyone, givenCampaign, givenMany, run, users } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { silentLog } from '../support/log.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })
const pool = openPool({ connectionString: service.databaseUrl }, silentLog, 1)
after(() => pool.close())
const titleTo = (device: string) =>
  (sender.pushes.findLast(({ deviceId }) => deviceId === device)?.content as Json | undefined)?.notification.title
const messagesOf = async (project: TestProject, trigger: string): Promise<Json[]> =>
  (await project.call('GET', `/api/v1/messages?trigger_id=${trigger}&limit=100`)).json.items
const explain = async (project: TestProject, trigger: string, user: string): Promise<Json> =>
  (await project.call('GET', `/api/v1/triggers/${trigger}/explain?project_user_id=${user}`)).json
const variants = [
  { id: 'a', weight: 1, message: { title: 'A {{ user.n }}' } },
  { id: 'b', weight: 1, message: { title: 'B {{ user.n }}' } }
]

describe('a campaign in several languages', () => {
  const message = {
    title: 'Hello {{ user.name }}',
    body: 'Bye',
    language: 'en',
    translations: { de: { title: 'Hallo {{ user.name }}' }, 'pt-BR': { title: 'Olá' } }
  }

  it('speaks the language of the device, else of the user, else its own, and says which', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', { id: 'ana-phone', locale_language: 'de', locale_region: 'AT' })
    await givenUser(project, 'bo', { id: 'bo-phone', locale_language: 'fr' })
    await givenUser(project, 'cy', { id: 'cy-phone', locale_language: 'en' })
    for (const [user, language] of [
      ['bo', 'pt-BR'],
      ['cy', 'de']
    ])
      await project.call('POST', '/api/v1/users', { json: { project_user_id: user, properties: { language } } })
    const saved = await givenCampaign(service, project, { message })
    assert.deepEqual(saved.warnings, [
      'message.translations.pt-BR.title lacks {{ user.name }}, which the default language has.'
    ])
    const { trigger_id } = await run(project, users('ana', 'bo', 'cy'))
    assert.deepEqual(['ana-phone', 'bo-phone', 'cy-phone'].map(titleTo), ['Hallo ', 'Olá', 'Hello '])
    const said = await messagesOf(project, trigger_id)
    assert.deepEqual(Object.fromEntries(said.map(({ device_id, language, body }) => [device_id, [language, body]])), {
      'ana-phone': ['de', 'Bye'],
      'bo-phone': ['pt-BR', 'Bye'],
      'cy-phone': ['en', 'Bye']
    })
  })

  it('is warned of twenty times at most, also if it gives cause for a hundred thousand', async () => {
    const project = await service.project()
    const names = Array.from({ length: 50 }, (_, n) => `{{user.a${n}}}`).join('')
    const texts = (text: string) => ({ title: text, body: text, image_url: text, landing_url: text })
    const tags = Array.from({ length: 100 }, (_, n) => `de-x-v${n}`)
    const many = {
      ...texts(names),
      language: 'en',
      translations: Object.fromEntries(tags.map((tag) => [tag, texts('{{user.z}}')]))
    }
    const variants = Array.from({ length: 8 }, (_, n) => ({ id: `v${n}`, weight: 1, message: many }))
    const { warnings } = await givenCampaign(service, project, { message: undefined, variants })
    assert.equal(warnings.length, 20)
    const { json, status } = await service.manage('GET', `/projects/${project.id}/campaigns`)
    assert.deepEqual([status, json.items.length], [200, 1])
  })

  it('is warned of where an earlier version saved a template that is refused now', async () => {
    const project = await service.project()
    await givenCampaign(service, project, { message })
    await service.sql(
      `update campaign_versions set definition = replace(definition::text, 'Hello {{ user.name }}', 'Hello {{ user.name. }}')::jsonb
        where project_id = $1`,
      [project.id]
    )
    const { json } = await service.manage('GET', `/projects/${project.id}/campaigns/news`)
    assert.deepEqual(json.warnings, [
      'message.title is refused, so messages with it fail: line 1, column 19: a name must follow the dot.'
    ])
  })

  it('has the texts of the default language where a translation has empty ones', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', { id: 'lyon-phone', locale_language: 'fr' })
    const { warnings } = await givenCampaign(service, project, {
      message: {
        title: 'Hello {{ user.name }}',
        image_url: 'https://example.com/a.png',
        language: 'en',
        translations: { fr: { title: '', body: 'Salut', image_url: '', landing_url: '' } }
      }
    })
    assert.deepEqual(warnings, [])
    const { trigger_id } = await run(project, users('ana'))
    const pushed = sender.pushes.findLast(({ deviceId }) => deviceId === 'lyon-phone')?.content as Json
    const texts = { title: 'Hello ', body: 'Salut', imageUrl: 'https://example.com/a.png' }
    assert.deepEqual(pushed.notification, texts)
    assert.equal((await messagesOf(project, trigger_id))[0]!.language, 'fr')
  })

  it('is saved with a warning of an unknown language', async () => {
    const project = await service.project()
    const translations = {
      german: { title: 'Hallo' },
      hebrew: {},
      'qx-Latn-JP': { title: 'x' },
      gsw: {},
      'zh-Hant': {},
      iw: {}
    }
    const { warnings } = await givenCampaign(service, project, {
      message: { title: 'Hi', language: 'English', translations }
    })
    assert.deepEqual(warnings, [
      'message.language is no known language; did you mean en?',
      'message.translations.german is no known language; did you mean de?',
      'message.translations.hebrew is no known language; did you mean he?',
      'message.translations.qx-Latn-JP is no known language: devices report tags such as en, pt-BR or zh-Hant.'
    ])
  })

  it('refuses tags that are none, or name one language twice', async () => {
    const project = await service.project()
    const reply = await service.manage('PUT', `/projects/${project.id}/campaigns/news`, {
      json: {
        name: 'News',
        message: { title: 'Hello', language: 'en', translations: { EN: { title: 'x' }, pt_BR: {}, 'de-419-1': {} } }
      }
    })
    assert.equal(reply.status, 400)
    assert.deepEqual(
      reply.json.details.map(({ path }: Json) => path),
      ['message.translations.EN', 'message.translations.pt_BR', 'message.translations.de-419-1']
    )
  })
})

describe('variants', () => {
  it('split a broadcast by their weights, and a holdout gets nothing, both counted and explained', async () => {
    const project = await service.project()
    await givenMany(service, project, 400, 'split')
    await givenCampaign(service, project, { variants, message: undefined, holdout: 25 })
    const found = await run(project, everyone)
    const { sent, skipped, targeted } = found.counts
    assert.deepEqual([targeted, sent + skipped, found.skipped.holdout], [400, 400, skipped])
    assert.ok(skipped > 60 && skipped < 140, `${skipped} of 400 users were held out`)
    const pushes = sender.pushes.filter(({ deviceId }) => deviceId.startsWith('split-'))
    const ofA = pushes.filter(({ content }) => (content as Json).notification.title.startsWith('A '))
    assert.ok(ofA.length > sent * 0.35 && ofA.length < sent * 0.65, `${ofA.length} of ${sent} got variant a`)
    const reached = new Set(pushes.map(({ deviceId }) => deviceId))
    const out = Array.from({ length: 400 }, (_, n) => n + 1).find((n) => !reached.has(`split-${n}`))
    const told = await explain(project, found.trigger_id, `split-user-${out}`)
    assert.equal(told.devices[0].gates.at(-1).reason, 'holdout')
    const again = await run(project, users(...Array.from({ length: 10 }, (_, n) => `split-user-${n + 1}`)))
    for (const { device_id, variant, title } of await messagesOf(project, again.trigger_id)) {
      assert.ok(reached.has(device_id), 'the holdout stays the same')
      const before = pushes.find(({ deviceId }) => deviceId === device_id)!.content as Json
      assert.deepEqual([before.notification.title, title[0]], [title, variant.toUpperCase()])
    }
  })

  it('refuse what cannot be counted or chosen', async () => {
    const project = await service.project()
    const [a] = variants
    const reply = await service.manage('PUT', `/projects/${project.id}/campaigns/news`, {
      json: {
        name: 'News',
        variants: [a, { ...a, weight: 0 }, { ...a, id: 'holdout' }],
        winner: { after: 10, by: 'conversion' }
      }
    })
    assert.deepEqual(
      reply.json.details.map(({ path }: Json) => path),
      ['variants[1].id', 'variants[2].id', 'winner.by']
    )
  })
})

describe('a missing value', () => {
  it('leaves a person out of a campaign that says skip, and is told by preview and explain', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', { id: 'ana-phone' })
    await givenUser(project, 'bo', { id: 'bo-phone' })
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana', properties: { points: 5 } } })
    const message = { title: '{{ user.points }}% off{{ trigger.code | default: "" }}' }
    await givenCampaign(service, project, { message })
    const preview = async () =>
      (await project.call('POST', '/api/v1/campaigns/news:preview', { json: users('ana', 'bo') })).json
    const sampleOf = (shown: Json) => shown.sample.map(({ reason, missing }: Json) => [reason, missing])
    const before = await preview()
    assert.deepEqual(before.missing_values, { sampled: 2, names: { 'user.points': 1 } })
    assert.deepEqual(sampleOf(before), [
      [null, []],
      [null, ['user.points']]
    ])
    assert.equal((await run(project, users('ana', 'bo'))).counts.sent, 2)
    await givenCampaign(service, project, { message, on_missing: 'skip' })
    assert.deepEqual(sampleOf(await preview())[1], ['missing_value', ['user.points']])
    const found = await run(project, users('ana', 'bo'))
    assert.deepEqual([found.counts.sent, found.skipped], [1, { missing_value: 1 }])
    const told = await explain(project, found.trigger_id, 'bo')
    assert.equal(told.devices[0].gates.at(-1).reason, 'missing_value')
  })
})

it('a test sends the variant and the language that its author names', async () => {
  const project = await service.project()
  await givenUser(project, 'ana', { id: 'test-phone', locale_language: 'en' })
  const message = { title: 'Hi', language: 'en', translations: { de: { title: 'Na' } } }
  await givenCampaign(service, project, {
    message: undefined,
    variants: ['a', 'b'].map((id) => ({ id, weight: id === 'a' ? 1 : 0, message: { ...message, body: id } }))
  })
  const test = (wanted: Json) =>
    service.manage('POST', `/projects/${project.id}/campaigns/news:test`, {
      json: { device_ids: ['test-phone'], ...wanted }
    })
  assert.equal((await test({ variant: 'b', language: 'de-AT' })).status, 200)
  const sent = sender.pushes.findLast(({ deviceId }) => deviceId === 'test-phone')?.content as Json
  assert.deepEqual(sent.notification, { title: 'Na', body: 'b' })
  for (const [wrong, path, message] of [
    [{ variant: 'c' }, 'variant', 'must be one of a, b'],
    [{ step: 'first' }, 'step', 'the campaign has no steps']
  ] as const) {
    const { status, json } = await test(wrong)
    assert.deepEqual([status, json.details], [400, [{ path, message }]])
  }
})

it('a preview shows every variant and language side by side', async () => {
  const project = await service.project()
  await givenCampaign(service, project, {
    message: undefined,
    variants: [
      {
        id: 'a',
        weight: 1,
        message: { title: 'Hi {{ user.n }}', language: 'en', translations: { de: { title: 'Na' } } }
      },
      { id: 'b', weight: 1, message: { title: 'Ho' } }
    ]
  })
  const { texts } = (await project.call('POST', '/api/v1/campaigns/news:preview', { json: {} })).json
  assert.deepEqual(
    texts.map(({ variant, language, content, missing }: Json) => [
      variant,
      language,
      content.notification.title,
      missing
    ]),
    [
      ['a', 'en', 'Hi ', ['user.n']],
      ['a', 'de', 'Na', []],
      ['b', null, 'Ho', []]
    ]
  )
})

describe('the winner of variants', () => {
  const winnersOf = async (project: TestProject) =>
    (await service.manage('GET', `/projects/${project.id}/campaigns/news`)).json.winners
  const choose = (project: TestProject, json: Json) =>
    service.manage('POST', `/projects/${project.id}/campaigns/news:choose-winner`, { json })

  it('is chosen by hand, for all who come later, and taken back', async () => {
    const project = await service.project()
    await givenMany(service, project, 40, 'hand')
    await givenCampaign(service, project, { variants, message: undefined })
    assert.equal((await choose(project, { variant: 'c' })).status, 400)
    assert.equal((await choose(project, { variant: 'a', step: 'first' })).status, 400)
    const { winners } = (await choose(project, { variant: 'b' })).json
    assert.deepEqual([winners[0].variant, winners[0].among, winners[0].by], ['b', ['a', 'b'], null])
    const { trigger_id } = await run(project, everyone)
    const said = await messagesOf(project, trigger_id)
    assert.deepEqual([said.length, new Set(said.map(({ variant }) => variant))], [40, new Set(['b'])])
    const audit = (await service.manage('GET', `/projects/${project.id}/audit`)).json.items
    assert.ok(audit.some(({ action, details }: Json) => action === 'campaign.choose_winner' && details.variant === 'b'))
    assert.equal((await winnersOf(project)).length, 1)
    await givenCampaign(service, project, { variants: [...variants, { ...variants[0], id: 'c' }], message: undefined })
    assert.equal(await winnersOf(project), undefined, 'other variants are another experiment')
    await givenCampaign(service, project, { variants, message: undefined })
    assert.deepEqual((await choose(project, { variant: null })).json, { winners: [] })
    const other = await service.project()
    assert.equal((await choose(other, { variant: 'b' })).status, 404)
  })

  it('is chosen by the results once they leave no doubt, and not again after it was taken back', async () => {
    const project = await service.project()
    await givenMany(service, project, 120, 'rate')
    await givenCampaign(service, project, { variants, message: undefined, winner: { after: 100, by: 'tapped' } })
    const { trigger_id } = await run(project, everyone)
    assert.equal(await winnersOf(project), undefined)
    await service.sql(
      `update campaign_stats set tapped = case when variant = 'a' then sent / 2 else 0 end where project_id = $1`,
      [project.id]
    )
    const [winner] = await eventually(async () => {
      await service.hurry('stats.choose_winners')
      const found = await winnersOf(project)
      assert.ok(found)
      return found
    })
    assert.deepEqual([winner.variant, winner.by], ['a', 'tapped'])
    assert.ok(trigger_id)
    assert.deepEqual((await choose(project, { variant: null })).json, { winners: [] })
    assert.equal(await winnersOf(project), undefined)
    const winners = createWinners(pool)
    const projectId = project.id as ProjectId
    assert.deepEqual(await winners.open(projectId, 'news'), [], 'results do not choose again what was taken back')
    await winners.choose(projectId, 'tidings', 'news', { step: null, variant: 'a', by: 'tapped' })
    assert.equal(await winnersOf(project), undefined)
    assert.equal((await choose(project, { variant: 'b' })).json.winners[0].variant, 'b')
  })
})
