import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Message, Request } from '../../src/a2a/model.ts'
import { readBy } from '../../src/a2a/turns/texts.ts'
import { takeTurn } from '../../src/a2a/turns/turns.ts'
import { morePhrasings } from './more-phrasings.ts'
import { phrasings } from './phrasings.ts'
import { read, skills } from './skills.ts'
import { traps } from './traps.ts'
import { wildPhrasings } from './wild-phrasings.ts'

const readText = readBy(read)

/** Sends messages one after the other to the same task, texts and data in the given order. */
async function talk(...contents: (string | object)[]) {
  let known: Request | undefined
  let turn: Awaited<ReturnType<typeof takeTurn>> | undefined
  for (const content of contents) {
    assert.notEqual(turn?.kind, 'run', `done before ${JSON.stringify(content)}`)
    const parts = [typeof content === 'string' ? { text: content } : { data: content }]
    const message: Message = { messageId: 'm', role: 'user', parts }
    turn = await takeTurn(message, known, { skills, readText })
    // As the database returns it.
    known = JSON.parse(JSON.stringify(turn.request))
  }
  return turn!
}

async function assertAsks(contents: (string | object)[], words?: RegExp) {
  const turn = await talk(...contents)
  assert.equal(turn.kind === 'stop' && turn.state, 'input-required', JSON.stringify([contents, turn.request]))
  if (words) assert.match(turn.kind === 'stop' ? turn.reason : '', words)
}

async function assertDoes(contents: (string | object)[], skill: string, fields: object) {
  const turn = await talk(...contents)
  assert.equal(turn.kind, 'run', JSON.stringify([contents, turn]))
  assert.deepEqual([turn.request.skill, turn.request.fields], [skill, fields])
}

const everyone = 'Trigger campaign welcome for everyone'
const ana = [{ projectUserId: 'ana' }]

describe('data without a skill, after a text', () => {
  const unclear = [
    'Trigger campaign welcome for everyone except bystander',
    'Trigger campaign welcome for everyone tomorrow',
    'Trigger campaign welcome for premium users',
    'Send a push to user ana saying "hi". Actually, don\'t.',
    'Create user jane but not now',
    'Create user erin and frank'
  ]
  const irrelevant = [{}, { properties: {} }, { properties: { q: 1 } }, { foo: 1 }]

  it('that is empty or says something else does nothing, and the question is asked again', async () => {
    for (const text of [...unclear, 'Trigger campaign welcome', 'Create user', everyone])
      for (const data of irrelevant) {
        const [first, second] = [await talk(text), await talk(text, data, data)]
        assert.ok(first.kind === 'stop' && second.kind === 'stop', text)
        assert.equal(second.state, 'input-required')
        assert.ok(second.reason.endsWith(first.reason), second.reason)
        assert.match(second.reason, /^The data was not taken: /)
        assert.deepEqual(second.request, JSON.parse(JSON.stringify(first.request)))
      }
  })

  it('makes nothing clear that the text left unclear, whatever it holds', async () => {
    for (const text of unclear)
      for (const data of [{ campaignId: 'welcome', targets: ana }, { projectUserId: 'ana' }, { broadcast: true }])
        await assertAsks([text, data], /not clear/)
  })

  it('never starts what a text of any kind left open', async () => {
    const everything = { projectUserId: 'x', campaignId: 'x', eventName: 'x', targets: ana, body: 'x' }
    for (const text of [...traps, ...[...phrasings, ...morePhrasings, ...wildPhrasings].map(([one]) => one)]) {
      const first = read(text)
      if (first.kind !== 'ask' && first.kind !== 'confirm') continue
      for (const data of irrelevant) await assertAsks([text, data])
      if (first.kind === 'confirm' || first.missing.length === 0) await assertAsks([text, everything])
    }
  })

  it('fills a gap of it', async () => {
    await assertDoes(['Create user', { projectUserId: 'x' }], 'create-user', { projectUserId: 'x' })
    await assertDoes(['Create a user with plan=free', { projectUserId: 'x' }], 'create-user', {
      projectUserId: 'x',
      properties: { plan: 'free' }
    })
    const push = { projectUserId: 'ana', title: 'Hi' }
    await assertDoes(['Send a push to user ana', { title: 'Hi' }], 'send-push-notification', push)
    await assertDoes(['Send a push', { projectUserId: 'ana' }, { title: 'Hi' }], 'send-push-notification', push)
    await assertDoes(['Send a push to ana', { title: 'Hi' }, 'a user'], 'send-push-notification', push)
    await assertDoes(['Trigger campaign welcome', { targets: ana }], 'trigger-campaign', {
      campaignId: 'welcome',
      targets: ana
    })
  })

  it('that fills one gap is asked for the others', async () => {
    await assertAsks(['Track an event', { eventName: 'buy' }], /^Track the event "buy" .* For which user/)
    await assertAsks(['Trigger a campaign', { campaignId: 'welcome' }], /For whom\?/)
    await assertAsks(['Trigger a campaign for the default audience', { campaignId: 'welcome' }])
  })

  it('that has a wrong type is refused', async () => {
    const turn = await talk('Create user', { projectUserId: 5 })
    assert.equal(turn.kind === 'stop' && turn.state, 'rejected')
  })

  it('never spares the yes to what reaches many', async () => {
    const broadcast = { campaignId: 'welcome', broadcast: true }
    const shall = /Trigger the campaign "welcome" for everyone it is meant for\. Shall I\? Say yes or no\.$/
    for (const texts of [
      ['Trigger campaign for everyone', { campaignId: 'welcome' }],
      ['Trigger campaign welcome', { broadcast: true }],
      ['Trigger a campaign', { campaignId: 'welcome', broadcast: true, properties: {} }]
    ]) {
      await assertAsks(texts, shall)
      await assertAsks([...texts, {}], shall)
      await assertDoes([...texts, 'yes'], 'trigger-campaign', broadcast)
    }
  })

  it('still needs a yes for a change of a user who may not exist', async () => {
    await assertAsks(
      ['Update user with plan=gold', { projectUserId: 'ghost' }],
      /is made\. I understood: Create or update the user "ghost".*Shall I/
    )
  })

  it('that contradicts it waits for a yes to what came of it', async () => {
    const one = ['Trigger campaign for everyone', { campaignId: 'welcome', targets: ana }]
    await assertAsks(one, /for the user "ana"\. Shall I\?/)
    await assertDoes([...one, 'yes'], 'trigger-campaign', { campaignId: 'welcome', targets: ana })
    const two = ['Send a push to user ana', { deviceId: 'd', body: 'Hi' }]
    await assertAsks(two, /to the device "d" with the body "Hi"\. Shall I\?/)
    await assertDoes([...two, 'yes'], 'send-push-notification', { deviceId: 'd', body: 'Hi' })
  })

  it('that words cannot show is to be sent whole', async () => {
    const targets = [{ projectUserId: 'ana', deviceId: 'd' }]
    for (const text of ['Trigger campaign welcome', 'Trigger a campaign for everyone'])
      await assertAsks(
        [text, { campaignId: 'welcome', targets }],
        /^Send the whole of it as data, with the field skill\./
      )
  })

  it('that is sent in place of a yes or a no was not taken, and the question says so', async () => {
    await assertAsks([everyone, { targets: ana }], /^The data was not taken: this needs a yes or a no\. Trigger the/)
  })
})

describe('data with a skill, after a text', () => {
  it('is a request of its own: nothing of the text is meant for it', async () => {
    await assertDoes(
      [everyone, { skill: 'trigger-campaign', campaignId: 'welcome', targets: ana }],
      'trigger-campaign',
      {
        campaignId: 'welcome',
        targets: ana
      }
    )
    await assertAsks([everyone, { skill: 'trigger-campaign' }], /^Send the missing field: campaignId\.$/)
    await assertAsks(['Update user ghost with plan=gold', { skill: 'create-user' }], /missing field: projectUserId/)
    await assertDoes(['Create user erin and frank', { skill: 'create-user', projectUserId: 'x' }], 'create-user', {
      projectUserId: 'x'
    })
  })

  it('goes on with what was data before, also after a text that added nothing', async () => {
    const properties = { plan: 'free' }
    const more = { skill: 'create-user', projectUserId: 'x' }
    await assertDoes([{ skill: 'create-user', properties }, 'let me think', more], 'create-user', {
      projectUserId: 'x',
      properties
    })
  })
})

describe('a text, after data that lacks something', () => {
  it('that is no answer gets the question again', async () => {
    for (const text of ['let me think', 'unknown', 'what id?', 'maybe'])
      await assertAsks(
        [{ skill: 'create-user' }, text],
        /^I did not understand that\. Send the missing field: projectUserId\.$/
      )
    await assertAsks([{ skill: 'trigger-campaign' }, 'welcome for everyone'], /missing field: campaignId/)
    await assertAsks([{ skill: 'create-user' }, 'hm', 'hm'], /^I did not understand that\. Send the missing field: pro/)
  })

  it('that calls it off ends it', async () => {
    for (const text of ['cancelled', 'nvm', 'User declined', 'no'])
      for (const data of [{ skill: 'create-user' }, { skill: 'track-event', projectUserId: 'ana' }]) {
        const turn = await talk(data, text)
        assert.equal(turn.kind === 'stop' && turn.state, 'canceled', text)
      }
  })

  it('that names the skill goes on with the fields that came before', async () => {
    for (const text of ['create-user', 'Create a user'])
      await assertDoes([{ projectUserId: 'keepme' }, text], 'create-user', { projectUserId: 'keepme' })
    await assertDoes([{ projectUserId: 'ana' }, 'send-push-notification', '"Hi"'], 'send-push-notification', {
      projectUserId: 'ana',
      body: 'Hi'
    })
    await assertAsks([{ campaignId: 'welcome' }, 'trigger-campaign'], /For whom\?/)
    await assertAsks([{ campaignId: 'welcome', broadcast: true }, 'trigger-campaign'], /for everyone .* Shall I\?/)
  })
})

describe('a request that is whole and had to stop', () => {
  const known = { skill: 'send-push-notification', fields: { projectUserId: 'ana', title: 'Hi' } }
  const take = (text: string) =>
    takeTurn({ messageId: 'm', role: 'user', parts: [{ text }] }, known, { skills, readText, state: 'auth-required' })

  it('is canceled by a no', async () => {
    for (const text of ['no', 'cancel', 'never mind', 'do not send it', "Don't send it!", 'cancelled', 'stop']) {
      const turn = await take(text)
      assert.equal(turn.kind === 'stop' && turn.state, 'canceled', text)
    }
  })

  it('goes on with a retry, a yes or data', async () => {
    for (const text of [
      'retry',
      'Retry!',
      'please try again',
      'again',
      'Try it again, please.',
      'yes',
      'Yes, please'
    ]) {
      const turn = await take(text)
      assert.ok(turn.kind === 'run', text)
      assert.deepEqual(turn.request, known)
    }
    const parts = [{ data: { body: 'there' } }]
    const turn = await takeTurn({ messageId: 'm', role: 'user', parts }, known, { skills, readText })
    assert.ok(turn.kind === 'run')
    assert.deepEqual(turn.request.fields, { ...known.fields, body: 'there' })
  })

  it('stays as it is with any other text, which does nothing', async () => {
    const others = [
      'What is the status?',
      'hold on',
      'I think we should wait a bit',
      '',
      '?',
      'wait',
      'again and again?'
    ]
    for (const text of [...others, 'do not retry yet', 'retry tomorrow', 'never try again', 'should I retry?']) {
      const turn = await take(text)
      assert.ok(turn.kind === 'stop', text)
      if (turn.state !== 'canceled') assert.deepEqual([turn.state, turn.request], ['auth-required', known], text)
    }
  })

  it('gives way to a new order', async () => {
    const turn = await take('Create user bo')
    assert.ok(turn.kind === 'run')
    assert.equal(turn.skill.id, 'create-user')
  })
})
