import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { parseCampaign } from '../../src/campaigns/definition/definition.ts'
import { Unavailable } from '../../src/platform/errors.ts'
import { newId, type ProjectId } from '../../src/platform/ids.ts'
import { type Lane, openLane } from '../../src/templates/render-lane.ts'
import { createRenderer, type Rendered, ValuesMissing } from '../../src/templates/renderer.ts'
import { TemplateFailed } from '../../src/templates/templates.ts'

/** A renderer whose processes a test can inspect. */
function watched() {
  const lanes: Lane[] = []
  // Half of the usual limit: renderings without end take a processor until then.
  const renderer = createRenderer(
    undefined,
    () => {
      const lane = openLane()
      lanes.push(lane)
      return lane
    },
    500
  )
  after(renderer.close)
  return { renderer, lanes }
}

const { renderer, lanes } = watched()
const project = () => newId() as ProjectId
const campaign = (title: string) => parseCampaign({ campaign_id: 'x', name: 'X', message: { title } })
/** The number of a person, by a filter, so that the service does not fill it in itself. */
const number = '{{ user.n | plus: 0 }}'
const people = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    device_id: `phone-${n}`,
    user_id: newId(),
    project_user_id: `user-${n}`,
    properties: { n },
    platform: 'IOS' as const,
    facts: {}
  }))
const titles = (rendered: Rendered[]) =>
  rendered.map((one) =>
    one === 'late' || one instanceof TemplateFailed || one instanceof ValuesMissing
      ? String(one)
      : one.kind === 'alert'
        ? one.notification.title
        : ''
  )
const soon = (ms = 20_000) => Date.now() + ms

// `case` compares whole lists and counts none of it: minutes of work that no limit of the engine ends.
const equal = Array.from({ length: 30_000 }, (_, index) => index)
const properties = { a: equal, c: [...equal.slice(0, -1), 'x'] }
const endless = `{% case trigger.a %}{% when ${'trigger.c, '.repeat(1_000)}trigger.c %}{% endcase %}`
const tooLong = 'TemplateFailed: it takes longer than one rendering may; loop over less'

// Rendering processes keep no process alive, as a service has its server for that; a test that is alone has this.
const awake = setInterval(() => {}, 1_000)
after(() => clearInterval(awake))

describe('a rendering that does not end', () => {
  it('is stopped, and does not hold up another project', async () => {
    const order: string[] = []
    const quick = renderer.of(project(), campaign(`Hello ${number}`)).for({ properties: {} })
    await quick(people(1), soon())
    const hostile = renderer
      .of(project(), campaign(`{{ user.n }}${endless}`))
      .for({ properties })(people(1), soon())
      .then((rendered) => {
        order.push('hostile')
        return rendered
      })
    for (let n = 0; n < 5; n++) {
      const other = await quick(people(2), soon())
      assert.deepEqual(titles(other), ['Hello 0', 'Hello 1'])
      order.push('other')
    }
    assert.deepEqual(titles(await hostile), [tooLong])
    assert.deepEqual(order, ['other', 'other', 'other', 'other', 'other', 'hostile'])
  })

  it('fails only its own message; the others of the same trigger are made', async () => {
    const title = `{% if user.n == 3 %}${endless}{% endif %}No {{ user.n }}`
    const rendered = titles(await renderer.of(project(), campaign(title)).for({ properties })(people(6), soon()))
    assert.deepEqual(rendered, ['No 0', 'No 1', 'No 2', tooLong, 'No 4', 'No 5'])
  })

  it('is not tried for each recipient where its text is the same for all', async () => {
    const before = renderer.stats().stopped
    const render = renderer.of(project(), campaign(endless), 'shared').for({ properties }, 'shared')
    assert.deepEqual(titles(await render(people(40), soon())), Array(40).fill(tooLong))
    // All of them together, one alone, and once without any recipient; never forty.
    assert.ok(renderer.stats().stopped - before <= 3, JSON.stringify(renderer.stats()))
    const again = renderer.stats().stopped
    assert.deepEqual(titles(await render(people(40), soon())), Array(40).fill(tooLong))
    assert.equal(renderer.stats().stopped, again, 'the next batch of the trigger does not try it again')
  })

  it('gives its memory back: its process ends, and as few as before are left', async () => {
    await renderer.of(project(), campaign(`{{ user.n }}${endless}`)).for({ properties })(people(1), soon())
    const { shared, spare, slow } = renderer.stats()
    const left = lanes.filter((lane) => lane.open).length
    assert.ok(left <= shared + spare + slow && left <= 4, `${left} of ${lanes.length} processes`)
  })

  it('takes no more than its share: projects that are slow wait for each other, the rest for neither', async () => {
    const hostile = Array.from({ length: 4 }, () =>
      renderer.of(project(), campaign(`{{ user.n }}${endless}`)).for({ properties })(people(1), soon())
    )
    const done = Promise.all(hostile)
    const other = renderer.of(project(), campaign(number)).for({ properties: {} })
    assert.deepEqual(titles(await other(people(1), soon())), ['0'])
    assert.ok(renderer.stats().slow <= 2, JSON.stringify(renderer.stats()))
    assert.deepEqual((await done).flatMap(titles), Array(4).fill(tooLong))
  })

  it('waits for its turn no longer than its deadline', async () => {
    const slow = project()
    const rendering = renderer.of(slow, campaign(`{{ user.n }}${endless}`)).for({ properties })
    const first = rendering(people(1), soon())
    const second = await rendering(people(1), Date.now() + 10)
    assert.ok(['late', tooLong].includes(titles(second)[0]!), String(second))
    assert.deepEqual(titles(await first), [tooLong])
  })
})

describe('a text that only inserts values', () => {
  it('is made without a process, and others of the same campaign are made by one', async () => {
    const { renderer, lanes } = watched()
    const render = renderer
      .of(project(), campaign('{{ user.n }} for {{ trigger.what }}'))
      .for({ properties: { what: 'you' } })
    assert.deepEqual(titles(await render(people(2), soon())), ['0 for you', '1 for you'])
    assert.equal(lanes.length, 0)
    const list = { ...people(1)[0]!, properties: { n: ['a', 'b'] } }
    assert.deepEqual(titles(await render([...people(2), list, ...people(1)], soon())), [
      ...['0 for you', '1 for you', 'ab for you', '0 for you']
    ])
    assert.ok(lanes.length > 0, 'a list is written by the library')
  })
})

describe('a process that ends while it renders', () => {
  it('is replaced, and every message is made', async () => {
    const { renderer, lanes } = watched()
    const loop = '{% for a in (1..40) %}{% for b in (1..20) %}{% if b == user.n %}{% endif %}{% endfor %}{% endfor %}'
    const rendered = renderer.of(project(), campaign(`${loop}No {{ user.n }}`)).for({ properties: {} })(
      people(60),
      soon()
    )
    while (lanes.length === 0) await turn()
    await lanes[0]!.ready
    await lanes[0]!.kill()
    assert.deepEqual(
      titles(await rendered),
      people(60).map(({ properties: { n } }) => `No ${n}`)
    )
  })

  it('that stops with the service, also in the midst of a rendering', async () => {
    const { renderer, lanes } = watched()
    const rendered = renderer.of(project(), campaign(`{{ user.n }}${endless}`)).for({ properties })(people(1), soon())
    while (lanes.length === 0) await turn()
    await lanes[0]!.ready
    const refused = assert.rejects(rendered, Unavailable)
    await renderer.close()
    await refused
    assert.ok(lanes.every((lane) => !lane.open))
  })
})

describe('a process that the system refuses to start', () => {
  it('is a refusal to come back, and the next try begins anew', async () => {
    let refusing = true
    const renderer = createRenderer(undefined, () => {
      if (refusing) throw Object.assign(new Error('spawn ENOMEM'), { code: 'ENOMEM' })
      return openLane()
    })
    after(renderer.close)
    const render = renderer.of(project(), campaign(`No ${number}`)).for({ properties: {} })
    await assert.rejects(render(people(1), soon()), Unavailable)
    refusing = false
    assert.deepEqual(titles(await render(people(1), soon())), ['No 0'])
    // The spare process that would take over from a slow rendering is missing: requests that need it are refused, and
    // nothing else ends.
    refusing = true
    const hostile = renderer.of(project(), campaign(`{{ user.n }}${endless}`)).for({ properties })
    for (const one of [hostile, render])
      await one(people(1), soon()).catch((error) => assert.ok(error instanceof Unavailable, String(error)))
    refusing = false
    assert.deepEqual(titles(await render(people(1), soon())), ['No 0'])
  })
})
