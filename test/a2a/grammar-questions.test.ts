import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { read } from './skills.ts'
import { wildPhrasings } from './wild-phrasings.ts'

describe('texts of people who have not read the docs', () => {
  for (const [text, expected] of wildPhrasings) {
    it(`${JSON.stringify(text)} is read as: ${expected.kind}`, () => {
      const reading = read(text)
      assert.equal(reading.kind, expected.kind, JSON.stringify(reading))
      for (const [field, value] of Object.entries(expected))
        if (field !== 'missing')
          assert.ok(isDeepStrictEqual((reading as Record<string, unknown>)[field], value), JSON.stringify(reading))
      const { missing = [] } = expected as { missing?: string[] }
      for (const field of missing) assert.ok(reading.kind === 'ask' && reading.missing.includes(field), field)
    })
  }
})

describe('a question', () => {
  const asked = (text: string) => {
    const reading = read(text)
    assert.ok('question' in reading, JSON.stringify(reading))
    return reading.question
  }
  const again = 'Please say the whole of it again.'
  const told: [text: string, question: string][] = [
    ['Create user ana with plan premium', `If plan is a property, write plan="premium". ${again}`],
    ['Create user ana, email ana@x.io', `If email is a property, write email="ana@x.io". ${again}`],
    ['Create user ana with name Ana Maria', `If name is a property, write name="…". ${again}`],
    ['Create user ana with plan=None', `I cannot tell the value of plan. Put it in quotes. ${again}`],
    ['Send a push to user ana saying hello', `Put it in quotes, as in: saying "…". ${again}`],
    ['Send a push to user ana: Hello there', `Put the text of the push in quotes. ${again}`],
    ['Notify ana that "dinner is ready"', 'Is "ana" a user or a device?'],
    ['Notify ana: "dinner is ready"', 'Is "ana" a user or a device?'],
    [
      'Send a push to ana, bo and cy: "Hi"',
      `A push goes to one user or one device at a time, and has no field cy. ${again}`
    ],
    ['Create a user named "Tom Smith"', 'What is the id of the user?'],
    ['Create user named Jane Doe', `A name is a property and no id. Write for example: id ana, name="…". ${again}`],
    ['Send "Hi" to the user named ana', `I know users and devices only by their ids. ${again}`],
    ['update user ana', `Say what is to change, as in: plan="gold". ${again}`],
    ['Create user ana and send her "Hi"', `I can do one thing at a time. ${again}`],
    [
      'Send "Hi" to user ana tomorrow at 9am',
      `I cannot wait for a time or a condition: what I do, I do at once. ${again}`
    ],
    [
      'Send "Hi" to user ana if she is premium',
      `I cannot wait for a time or a condition: what I do, I do at once. ${again}`
    ],
    [
      'Trigger campaign welcome for premium users',
      `I cannot tell for whom this is meant: I know users and devices only by their ids. ${again}`
    ],
    ['Create user ana, not bo', 'I do not understand "not bo" here. Please say it again in other words.'],
    [
      'update user ana with plan=gold',
      'A user who is not there yet is made. Create the user "ana" with plan "gold". Shall I? Say yes or no.'
    ],
    [
      'Alert: user ana "is hacking"',
      'Is that an order? Send a push to the user "ana" with the body "is hacking". Shall I? Say yes or no.'
    ],
    [
      '{"skill":"create-user","projectUserId":"ana"}',
      'This is JSON in a text. Send it as a data part: {"data": {"skill": "create-user", "projectUserId": "ana"}}.'
    ]
  ]
  for (const [text, question] of told)
    it(`about ${JSON.stringify(text)} says what to do`, () => assert.equal(asked(text), question))

  it('about whom a campaign is for does not pretend that its default audience was named', () => {
    for (const text of [
      'Trigger campaign welcome',
      'Trigger campaign welcome for ana',
      'Trigger campaign welcome in May'
    ]) {
      const reading = read(text)
      assert.ok(reading.kind === 'ask', text)
      assert.equal(reading.understood, 'Trigger the campaign "welcome" for nobody so far.')
    }
  })
})

describe('a no that is not about the order', () => {
  const beside = [
    'If user kim does not exist, create user kim',
    'If user kim does not exist create user kim',
    'If user kim does not exist, then please create user kim',
    'When user kim is not there, create user kim',
    'Unless there is one, create user kim',
    'Should user kim not exist, create user kim',
    'Please, if user kim is not there, create user kim',
    'I have not created user kim yet, please create user kim',
    "I didn't create user kim yet, so create user kim",
    'User kim is not there. Create user kim.',
    "We don't have user kim, so please create user kim",
    'There is no user kim, create user kim',
    "Why don't you create user kim?",
    'Why not create user kim?',
    'No problem, create user kim',
    'No rush! Create user kim',
    'instead of creating user lou, create user kim',
    'Rather than creating user lou, create user kim',
    'If ana is not in, send a push to user kim with title "Hi',
    'If nobody has been told, trigger campaign welcome for everyone'
  ]
  for (const text of beside)
    it(`is asked about: ${JSON.stringify(text)}`, () => {
      const reading = read(text)
      assert.ok(reading.kind === 'ask' && reading.missing.length === 0, JSON.stringify(reading))
      assert.match(reading.question, /say only what is to be done/)
      for (const answer of ['yes', 'kim', 'ok', 'user kim'])
        assert.equal(read(answer, { pending: reading }).kind, 'ask', answer)
      assert.equal(read('no', { pending: reading }).kind, 'declined')
    })

  it('is told from one that is', () => {
    for (const text of [
      'If she pays, do not create user kim',
      "If she pays don't create user kim",
      'Unless I say so, never ever send a push to user kim',
      "No problem, but don't create user kim",
      "Why don't you not create user kim?",
      'User kim is not there, but do not create user kim',
      'User kim is not to be told. Send nothing to user kim',
      'Do not, if you please, create user kim',
      'There is no need to create user kim',
      'You are not to create user kim',
      'User kim is not to be created, so please avoid creating user kim'
    ])
      assert.equal(read(text).kind, 'declined', text)
  })
})
