import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Reading } from '../../src/a2a/text/reading.ts'
import type { Data } from '../../src/a2a/text/skill-text.ts'
import { read } from './skills.ts'

/** Reads one text after the other, each as the answer to the question that the one before led to. */
function talk(...texts: string[]): Reading {
  let pending: Reading | undefined
  for (const text of texts) {
    // As it comes back from a database.
    pending = JSON.parse(JSON.stringify(read(text, pending ? { pending } : {})))
  }
  return pending!
}

function assertActs(reading: Reading, skill: string, data: Data): void {
  assert.equal(reading.kind, 'act', JSON.stringify(reading))
  assert.deepEqual(reading.kind === 'act' && [reading.skill, reading.data], [skill, data])
}

const kindOf = (...texts: string[]) => talk(...texts).kind

describe('an answer', () => {
  it('gives the id that was missing, in several ways', () => {
    for (const text of [
      '"ana"',
      '“ana”',
      'the id is ana',
      'user ana',
      'the user ana.',
      'id: ana',
      'with id ana',
      'id=ana'
    ])
      assertActs(talk('Create a user with plan=free', text), 'create-user', {
        projectUserId: 'ana',
        properties: { plan: 'free' }
      })
    for (const text of ['ana@example.com', 'user_7', 'auth0|5f7c', '4711', "It's c-1001."])
      assert.equal(kindOf('Create a user with plan=free', text), 'act', text)
  })

  it('that is one word of letters alone may be an answer of another kind, and needs a yes', () => {
    for (const text of ['ana', 'ana.', "It's ana", 'avanti', 'vamos', 'давай', 'やって'])
      assert.equal(kindOf('Create a user', text), 'confirm', text)
    assertActs(talk('Create a user', 'ana', 'yes'), 'create-user', { projectUserId: 'ana' })
    assert.equal(kindOf('Track an event', 'purchase', 'user ana'), 'confirm')
    assert.equal(kindOf('Trigger a campaign for user ana', 'welcome'), 'confirm')
  })

  it('that is a yes or a no in a language we know is asked about, and never a name', () => {
    const said = `yes y ok okay go proceed sure confirm no n ja nein oui non sí da да нет はい いいえ うん 是 不 好 نعم لا evet hayır
      네 아니요 हाँ नहीं tak nie ναι όχι כן לא vâng không kyllä ei igen nem sim não`
    for (const text of said.split(/\s+/))
      for (const asked of ['Create a user', 'Track an event for user ana', 'Trigger a campaign for user ana'])
        assert.match(kindOf(asked, text), /^(ask|declined)$/, `${asked}: ${text}`)
  })

  it('gives the name of an event or a campaign, and then whom it is for', () => {
    assertActs(talk('Track an event', 'event purchase', 'user ana'), 'track-event', {
      eventName: 'purchase',
      projectUserId: 'ana'
    })
    assertActs(talk('Trigger a campaign', 'campaign "Spring Sale"', 'for users ana and bo'), 'trigger-campaign', {
      campaignId: 'Spring Sale',
      targets: [{ projectUserId: 'ana' }, { projectUserId: 'bo' }]
    })
  })

  it('says whether an id is a user or a device', () => {
    const push = 'Send a push to ana with title "Hi"'
    const first = talk(push)
    assert.ok(first.kind === 'ask' && first.question === 'Is "ana" a user or a device?')
    for (const text of ['user', 'a user', "It's a user.", 'user ana', 'to user ana'])
      assertActs(talk(push, text), 'send-push-notification', { projectUserId: 'ana', title: 'Hi' })
    assertActs(talk(push, 'device'), 'send-push-notification', { deviceId: 'ana', title: 'Hi' })
    assertActs(talk(push, 'device ana-phone'), 'send-push-notification', { deviceId: 'ana-phone', title: 'Hi' })
    assert.equal(kindOf(push, 'bo'), 'ask')
    assertActs(talk(push, 'bo', 'a user'), 'send-push-notification', { projectUserId: 'bo', title: 'Hi' })
  })

  it('gives what a push is to say, in quotes', () => {
    const push = 'Send a push to user ana'
    assertActs(talk(push, '"Dinner is served"'), 'send-push-notification', {
      projectUserId: 'ana',
      body: 'Dinner is served'
    })
    assertActs(talk(push, 'title "Hi" and body "There"'), 'send-push-notification', {
      projectUserId: 'ana',
      title: 'Hi',
      body: 'There'
    })
    for (const text of ['Dinner is served', 'what do you mean?', 'why', 'hm'])
      assert.equal(kindOf(push, text), 'ask', text)
  })

  it('leads to a yes where everyone is meant', () => {
    const reading = talk('Trigger campaign welcome', 'everyone')
    assert.equal(reading.kind, 'confirm')
    assertActs(talk('Trigger campaign welcome', 'everyone', 'yes'), 'trigger-campaign', {
      campaignId: 'welcome',
      broadcast: true
    })
    assertActs(talk('Trigger campaign welcome', 'the default audience', 'yes'), 'trigger-campaign', {
      campaignId: 'welcome'
    })
  })

  it('that is a no ends it', () => {
    for (const text of ['no', 'cancel', 'Never mind.', 'No, thanks!', 'stop', "please don't", 'forget it']) {
      assert.equal(kindOf('Create a user', text), 'declined', text)
      assert.equal(kindOf('Trigger campaign welcome for everyone', text), 'declined', text)
      assert.equal(kindOf('Send a push to user ana', text), 'declined', text)
    }
    assert.equal(kindOf('Send a push to user ana', "don't send it"), 'declined')
  })

  it('leads to the yes that the whole would have needed', () => {
    const reading = talk('Update user with plan=gold', 'ghost')
    assert.ok(reading.kind === 'confirm', JSON.stringify(reading))
    assert.match(
      reading.question,
      /^A user who is not there yet is made\. I understood: Create or update the user "ghost"/
    )
    assert.equal(kindOf('Update user with plan=gold', 'the name is Ghost'), 'ask', 'a name is no id')
  })

  it('that is a refusal ends it, and names no user', () => {
    const said =
      `cancelled canceled cancle nvm decline declined reject disregard exit quit aborted discard terminate ignore
      negative`.split(/\s+/)
    for (const text of [...said, 'stop it', 'Cancelled.', 'User cancelled', 'it is cancelled', 'Declined by the user.'])
      for (const asked of ['Create user', 'Track event for user ana', 'Trigger a campaign for user ana', 'Send a push'])
        assert.equal(kindOf(asked, text), 'declined', `${asked}: ${text}`)
  })

  it('that is in doubt is asked for again', () => {
    const said = 'maybe perhaps n/a tbd none nothing wrong unsure later dunno idk ?'.split(' ')
    for (const text of [...said, 'N/A.', 'not sure', 'it is tbd', 'the id is unknown', 'the id is cancelled'])
      for (const asked of [
        'Create user',
        'Track event for user ana',
        'Trigger a campaign for user ana',
        'Send a push'
      ]) {
        const reading = talk(asked, text)
        assert.ok(reading.kind === 'ask' && reading.candidate === undefined, `${asked}: ${text}`)
        assert.deepEqual(reading.data, (talk(asked) as typeof reading).data)
      }
  })

  it('that is in quotes is taken as it is', () => {
    for (const text of ['"cancelled"', 'id: "cancelled"', 'id="cancelled"', 'with id "cancelled"'])
      assertActs(talk('Create user', text), 'create-user', { projectUserId: 'cancelled' })
    assertActs(talk('Create user', '"maybe"'), 'create-user', { projectUserId: 'maybe' })
    for (const text of ['"exit"', 'event: "exit"'])
      assertActs(talk('Track event for user ana', text), 'track-event', { eventName: 'exit', projectUserId: 'ana' })
  })

  it('that is no answer is asked for again, and nothing is done', () => {
    for (const text of [
      'help',
      'yes',
      'what?',
      'I do not know',
      'ana and bo',
      'hello there',
      '???',
      '',
      'user',
      '"',
      'a'.repeat(5_000)
    ])
      assert.equal(kindOf('Create a user', text), 'ask', text)
    const twice = talk('Create a user', 'help', 'help')
    assert.ok(
      twice.kind === 'ask' &&
        twice.question === 'I did not understand that. What is the id of the user? Say for example: user ana.'
    )
  })

  it('may be another order instead', () => {
    assertActs(talk('Send a push to user ana', 'Create user bo'), 'create-user', { projectUserId: 'bo' })
    assertActs(
      talk('Trigger campaign welcome for everyone', 'Trigger campaign welcome for user ana'),
      'trigger-campaign',
      {
        campaignId: 'welcome',
        targets: [{ projectUserId: 'ana' }]
      }
    )
  })

  it('to a text that was unclear is read for itself', () => {
    assertActs(talk('Create user ana tomorrow', 'Create user ana'), 'create-user', { projectUserId: 'ana' })
    assert.equal(kindOf('Create user ana tomorrow', 'ana'), 'ask')
    assert.equal(kindOf('Create user ana tomorrow', 'yes'), 'ask')
  })

  it('cannot be given to what was no question', () => {
    assert.equal(kindOf('Create user ana', 'yes'), 'none')
    assert.equal(kindOf("Don't create user ana", 'yes'), 'none')
    assert.equal(kindOf('Hello', 'ana'), 'none')
  })
})

describe('a yes', () => {
  const broadcast = 'Trigger campaign welcome for everyone'

  it('in its many forms confirms a broadcast', () => {
    const texts = ['yes', 'Yes!', 'y', 'yes, please', 'ok', 'Sure, go ahead.', 'confirm', 'do it', 'Yes. Do it.']
    for (const text of [...texts, 'yes, thanks', 'Please do.', 'yes please go ahead', 'proceed, please', 'of course'])
      assertActs(talk(broadcast, text), 'trigger-campaign', { campaignId: 'welcome', broadcast: true })
  })

  it('is not a word that may end the talk or mock the question', () => {
    const texts = ['yeah right', 'ok thanks', 'fine, thanks', 'fine', 'right', 'go', 'thanks', 'sure, thank you']
    for (const text of [...texts, 'sure sure', 'ok, right', "that's right", 'please'])
      assert.equal(kindOf(broadcast, text), 'confirm', text)
  })

  it('with an if or a but is none', () => {
    const texts = [
      'yes but only for user ana',
      'yes if it is Monday',
      'yes and no',
      'not yes',
      'maybe',
      'ok no',
      'why?',
      'yes?',
      'ok?'
    ]
    for (const text of [
      ...texts,
      'yes tomorrow',
      'ok, wait',
      'sure?  never',
      'I said yes to something else',
      'everyone'
    ])
      assert.notEqual(kindOf(broadcast, text), 'act', text)
  })

  it('is asked for again, and what is confirmed is what was shown', () => {
    const asked = talk(broadcast, 'hm')
    assert.ok(asked.kind === 'confirm')
    assert.match(asked.question, /welcome.*everyone.*yes or no/)
    assertActs(talk(broadcast, 'hm', 'yes'), 'trigger-campaign', { campaignId: 'welcome', broadcast: true })
  })

  it('by itself confirms nothing', () => {
    assert.equal(kindOf('yes'), 'none')
    assert.equal(kindOf(broadcast, 'no', 'yes'), 'none')
  })
})
