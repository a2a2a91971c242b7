import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { grammar, read, skills } from './skills.ts'

const texts = [...skills.values()].flatMap(({ text }) => text ?? [])
const kindOf = (text: string) => read(text).kind

describe('the published forms', () => {
  for (const { skill, forms } of texts)
    for (const { example, because } of forms)
      it(`of ${skill} read their example: ${example}`, () => {
        const reading = read(example)
        assert.ok('skill' in reading && reading.skill === skill, JSON.stringify(reading))
        assert.ok(reading.kind !== 'ask' || reading.missing.length > 0, JSON.stringify(reading))
        if (because !== undefined) assert.equal(reading.kind, 'confirm')
      })

  it('hold every example of the cards, which is done, or asks for a yes where it reaches everyone', () => {
    for (const { id, examples } of skills.values())
      for (const example of examples) {
        const reading = read(example)
        assert.equal(reading.kind, /all users/.test(example) && id === 'trigger-campaign' ? 'confirm' : 'act', example)
        assert.ok('skill' in reading && reading.skill === id, example)
      }
  })

  it('can be begun with the id of the skill', () => {
    for (const [text, skill] of [
      ['create-user ana with plan=gold', 'create-user'],
      ['track-event purchase for user ana', 'track-event'],
      ['send-push-notification to user ana saying "Hi"', 'send-push-notification'],
      ['trigger-campaign welcome for user ana', 'trigger-campaign'],
      ['find-user ana', 'find-user'],
      ['list-campaigns', 'list-campaigns'],
      ['please cancel-trigger t-1', 'cancel-trigger']
    ] as const) {
      const reading = read(text)
      assert.ok(reading.kind === 'act' && reading.skill === skill, text)
    }
  })

  it('of skills that read need no yes, and they are the skills whose effect is to read', () => {
    for (const { id, effect, text } of skills.values()) assert.equal(text?.reads === true, effect === 'read', id)
    for (const text of ['Preview campaign welcome for everyone', 'List campaigns?', 'Find user ana?'])
      assert.equal(kindOf(text), 'act', text)
  })

  it('of skills that read ask for whom, too, where the text does not say whether it is a user or a device', () => {
    for (const text of ['Preview campaign welcome for ana', 'Explain trigger t-1 for ana', 'List messages of ana'])
      assert.equal(kindOf(text), 'ask', text)
  })

  it('describe no field that the skill does not have', () => {
    for (const { skill, shows } of texts)
      for (const name of shows) assert.ok(name in skills.get(skill)!.schema.properties, `${skill}: ${name}`)
  })
})

describe('a text that is not a form from its first to its last word is not acted upon', () => {
  const orders = [
    'Create user ana',
    'Create user ana with plan=gold',
    'Track event purchase for user ana',
    'Trigger campaign gift for user ana',
    'Trigger campaign gift for user ana with code=x7',
    'Send a push to user ana saying "Hi"',
    'Cancel trigger t-1'
  ]

  it('where a word and a colon follow', () => {
    const rests = [
      '. Cancel: mistake',
      '. Warning: mistake',
      ', Execute: no',
      ' Note: test',
      ', except: bo',
      '; stop: now'
    ]
    for (const order of orders) for (const rest of rests) assert.equal(kindOf(order + rest), 'ask', order + rest)
  })

  it('where a condition follows', () => {
    for (const rest of [
      'where plan=premium',
      'whose plan is premium',
      'who has plan=premium',
      'if paid',
      'having a plan'
    ])
      for (const order of orders) assert.equal(kindOf(`${order} ${rest}`), 'ask', `${order} ${rest}`)
  })

  it('where it names a second user or device', () => {
    for (const text of [
      'For user ana, create user bo with plan=gold',
      'Send a push to user ana from user bo saying "Hi"',
      'Trigger campaign gift for user ana on device ap',
      'Track event purchase for user ana on device ap',
      'Send a push to user ana on device ap saying "Hi"'
    ])
      assert.match(kindOf(text), /ask|none/, text)
  })

  it('where a sign that ids do not have stands beside the id', () => {
    const ids = [
      '「ana」',
      'ana؟',
      'ana，不要',
      'ana。',
      'ana、bo',
      'ana！',
      '<ana>',
      'ana…',
      'ana不要',
      'ana#1',
      'ana*',
      '#ana',
      'ana%',
      'ana\u3164',
      'ana\ufe0f',
      'a\u200bna'
    ]
    for (const id of ids)
      for (const order of ['Create user', 'Trigger campaign gift for user', 'Track event purchase for user'])
        assert.equal(kindOf(`${order} ${id}`), 'ask', `${order} ${id}`)
  })

  it('where the name of a property may tell the agent how to act', () => {
    const names = `exclude exclude_users except without omit skip_if not not_for never no dry-run dryRun simulate preview test send-at
      sendAt SEND_AT schedule scheduled_for when if unless only onlyIf until after before delay cancel stop abort hold confirm
      target recipients audience segment limit userId user device_id id project_user_id`
    for (const name of names.split(/\s+/))
      for (const order of [
        'Create user ana',
        'Trigger campaign gift for user ana',
        'Track event purchase for user ana'
      ])
        for (const rest of [`with ${name}=x`, `with plan=gold and ${name}="x"`, `with {"${name}": "x"}`]) {
          const reading = read(`${order} ${rest}`)
          assert.ok(reading.kind === 'ask' && reading.missing.length === 0, `${order} ${rest}`)
        }
    assert.equal(kindOf('Create user ana with "exclude"=bo'), 'act', 'quotes make it a name')
  })

  it('where it is a compound, or leaves out the word event: it is proposed', () => {
    for (const text of [
      'Create a user dashboard',
      'Track spending for user ana',
      'Log an important event for user ana'
    ])
      assert.equal(kindOf(text), 'confirm', text)
    assert.equal(kindOf('Log an "important" event for user ana'), 'act')
    assert.equal(kindOf('Track event spending for user ana'), 'act')
    assert.equal(kindOf('Create user dashboard'), 'act', 'this is the published form for the id dashboard')
  })
})

describe('ids', () => {
  it('may have letters and digits of any script and the signs of ids', () => {
    const ids = [
      'ana@example.com',
      'auth0|5f7c',
      'crm:4711',
      'a/b',
      'ana+test',
      'a.b-c_d',
      '山田太郎',
      'Ωmega',
      'José',
      'анна',
      'أنا',
      '+4917012345'
    ]
    for (const id of ids) {
      const reading = read(`Create user ${id}`)
      assert.deepEqual(reading.kind === 'act' && reading.data, { projectUserId: id }, id)
    }
  })
})

describe('a reading by another reader', () => {
  it('is always a question for a yes, for every skill', () => {
    for (const { id, example } of skills.values()) {
      const { skill: _, pageSize: __, ...data } = example
      const reading = grammar.propose(id, data)
      assert.equal(reading?.kind, 'confirm', id)
      assert.deepEqual(reading?.data, data)
    }
  })
})
