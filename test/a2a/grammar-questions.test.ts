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
  const user = 'Please say it as in: Create user ana with plan=premium, age=31 and city="New York".'
  const push = 'Please say it as in: Send a push to user ana with title "Hello" and body "Welcome back".'
  const campaign = 'Please say it as in: Trigger campaign welcome for users ana and bo with discount=10.'
  const told: [text: string, question: string][] = [
    ['Create user ana with plan premium', `I do not understand "plan" here. ${user}`],
    ['Create user ana tomorrow', `I do not understand "tomorrow" here. ${user}`],
    ['Create user ana with', `Something is missing after "with". ${user}`],
    ['Create user ana🎉', `If "ana🎉" is a name or a value, put it in quotes. ${user}`],
    ['Create user tomorrow', `If "tomorrow" is a name or a value, put it in quotes. ${user}`],
    ['Create user ana with plan=null', `If "null" is a name or a value, put it in quotes. ${user}`],
    ['Create user ana with dry-run=true', `If dry-run is the name of a property, put it in quotes. ${user}`],
    [
      'Create user ana with {"dry-run": true}',
      `If "dry-run" is the name of a property, send all of it as data. ${user}`
    ],
    ['Create user ana with plan=x and plan=y', 'plan is given twice. Please say the whole of it again.'],
    ['Send a push to user ana saying hello', `Put texts in quotes. ${push}`],
    ['Send a push to user ana saying "Hi', `A quoted text is not closed. ${push}`],
    ['Notify ana that "dinner is ready"', 'Is "ana" a user or a device?'],
    [
      'Send a push to everyone saying "Hi"',
      `This takes one user or one device. Everyone is reached by a campaign. ${push}`
    ],
    ['Trigger campaign welcome for premium users', `I do not understand "users" here. ${campaign}`],
    [
      'update user ana with plan=gold',
      'A user who is not there yet is made. I understood: Create or update the user "ana" with plan "gold". Shall I? Say yes or no.'
    ],
    [
      'Create user ana, not bo',
      'I cannot tell what the "no" or "not" in it is about, and I wait for no condition. Please say only what is to be done.'
    ],
    [
      '{"skill":"create-user","projectUserId":"ana"}',
      'This is JSON in a text. Send it as a data part: {"data": {"skill": "create-user", "projectUserId": "ana"}}.'
    ]
  ]
  for (const [text, question] of told)
    it(`about ${JSON.stringify(text)} says what to do`, () => assert.equal(asked(text), question))

  it('about whom a campaign is for does not pretend that its default audience was named', () => {
    for (const text of ['Trigger campaign welcome', 'Trigger campaign welcome for ana']) {
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

  it('is told from one right before a verb, which forbids', () => {
    for (const text of [
      'Do not create user kim',
      'Please never send a push to user kim',
      'There is no need to create user kim',
      'You must not create user kim',
      "Let's not trigger campaign welcome for everyone"
    ])
      assert.equal(read(text).kind, 'declined', text)
  })

  it('and one further away are not acted upon', () => {
    for (const text of [
      'If she pays, do not create user kim',
      "If she pays don't create user kim",
      'Unless I say so, never ever send a push to user kim',
      "No problem, but don't create user kim",
      "Why don't you not create user kim?",
      'User kim is not there, but do not create user kim',
      'User kim is not to be told. Send nothing to user kim',
      'Do not, if you please, create user kim',
      'You are not to create user kim',
      'Refrain from creating user kim',
      'Stop sending pushes to user kim',
      'User kim is not to be created, so please avoid creating user kim'
    ])
      assert.equal(read(text).kind, 'ask', text)
  })
})
