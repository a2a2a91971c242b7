import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import { official } from '../../src/a2a/dialects/official.ts'
import { plain } from '../../src/a2a/dialects/plain.ts'
import { isTerminal, type Message, type Request, type Task, type TaskState, taskStates } from '../../src/a2a/model.ts'
import { heard, isFull, moved, newTask } from '../../src/a2a/tasks/changes.ts'
import { createRuns } from '../../src/a2a/tasks/runs.ts'
import { createStreams } from '../../src/a2a/tasks/streams.ts'
import type { Reading } from '../../src/a2a/text/reading.ts'
import { readBy } from '../../src/a2a/turns/texts.ts'
import { takeTurn } from '../../src/a2a/turns/turns.ts'
import { eventually } from '../support/service.ts'
import { skills } from './skills.ts'

const message = (content: string | object, more: Partial<Message> = {}): Message => ({
  messageId: 'm',
  role: 'user',
  parts: [typeof content === 'string' ? { text: content } : { data: content }],
  ...more
})
const task = (): Task => newTask(message('x'), { fields: {} }, 'plain')
const inState = (state: TaskState): Task => ({ ...task(), status: { state, at: '' } })

describe('the states of a task', () => {
  // Settled, section 7: `submitted` and `working` lead to every state; tasks that wait go on, are canceled or fail; the
  // others have ended.
  const running: TaskState[] = [
    'working',
    'completed',
    'failed',
    'rejected',
    'canceled',
    'input-required',
    'auth-required'
  ]
  const waiting: TaskState[] = ['working', 'canceled', 'failed']
  const table: Record<TaskState, TaskState[]> = {
    submitted: running,
    working: running,
    'input-required': waiting,
    'auth-required': waiting,
    completed: [],
    failed: [],
    canceled: [],
    rejected: []
  }
  for (const from of taskStates)
    it(`from ${from}: ${table[from].join(', ') || 'none'}, and no other`, () => {
      for (const to of taskStates) {
        if (table[from].includes(to)) assert.equal(moved(inState(from), to).status.state, to)
        else assert.throws(() => moved(inState(from), to), /cannot go/)
      }
      assert.equal(isTerminal(from), table[from].length === 0)
    })

  it('keep at most 100 messages and 12 MiB of them, and always the last', () => {
    let one = task()
    for (let index = 0; index < 150; index += 1) one = heard(one, message(`${index}`), { fields: {} }, 'plain')
    assert.equal(one.history.length, 100)
    assert.deepEqual(one.history.at(-1)!.parts, [{ text: '149' }])
    for (let index = 0; index < 3; index += 1) one = heard(one, message('x'.repeat(7_000_000)), { fields: {} }, 'plain')
    assert.equal(one.history.length, 1)
  })
})

describe('a sentence of the agent', () => {
  it('may have data beside it and metadata, which stand in the status and in the history', () => {
    const beside = { data: { confirmationId: 'c' }, metadata: { approvalId: 'a' } }
    const asked = moved(inState('working'), 'auth-required', 'Who agrees?', beside)
    for (const said of [asked.status.message!, asked.history.at(-1)!]) {
      assert.deepEqual(said.parts, [{ text: 'Who agrees?' }, { data: beside.data }])
      assert.deepEqual(said.metadata, beside.metadata)
    }
  })
})

describe('the log of a task', () => {
  it('is full after 1,000 entries, or with 1 MiB of what was said', () => {
    const entry = { status: { state: 'working' as const, at: '' } }
    const logged = (entries: number, text = '') => {
      const said = moved(inState('working'), 'input-required', text)
      return { ...said, log: [...Array.from({ length: entries - 1 }, () => entry), said.log.at(-1)!] }
    }
    assert.equal(isFull(logged(999)), false)
    assert.equal(isFull(logged(1_000)), true)
    assert.equal(isFull(logged(2, 'x'.repeat(1_000_000))), false)
    assert.equal(isFull(logged(2, 'x'.repeat(1024 * 1024))), true)
  })
})

describe('a text', () => {
  const answers = new Map<string, Reading>([
    [
      'create ana',
      {
        kind: 'act',
        skill: 'create-user',
        data: { projectUserId: 'ana' },
        understood: 'Create or update the user "ana".'
      }
    ],
    [
      'create',
      {
        kind: 'ask',
        skill: 'create-user',
        data: {},
        missing: ['projectUserId'],
        question: 'Who?',
        understood: 'Create a user.'
      }
    ],
    [
      'everyone',
      {
        kind: 'confirm',
        skill: 'trigger-campaign',
        data: { campaignId: 'a', broadcast: true },
        question: 'Sure?',
        understood: 'To all.'
      }
    ],
    ['no', { kind: 'declined', understood: 'Nothing was done.' }]
  ])
  let seen: unknown
  const readText = readBy((text: string, { pending }: { pending?: Reading }) => {
    seen = pending
    if (text === 'yes' && pending?.kind === 'confirm') return { ...pending, kind: 'act' as const }
    return answers.get(text) ?? { kind: 'none' as const, question: 'What?' }
  })
  const turn = (content: string | object, known?: Request) => takeTurn(message(content), known, { skills, readText })

  it('that is clear is done, and its result says what was understood', async () => {
    const read = await turn('create ana')
    assert.ok(read.kind === 'run')
    assert.deepEqual(read.request, {
      skill: 'create-user',
      fields: { projectUserId: 'ana' },
      understood: 'Create or update the user "ana".'
    })
  })

  it('that lacks something is asked about, and the reading comes back with the answer', async () => {
    const read = await turn('create')
    assert.ok(read.kind === 'stop')
    assert.deepEqual([read.state, read.reason], ['input-required', 'Create a user. Who?'])
    await turn('whatever', read.request)
    assert.deepEqual(seen, answers.get('create'))
    const unclear = await turn('whatever', read.request)
    assert.ok(unclear.kind === 'stop')
    assert.deepEqual(unclear.request, read.request, 'what was known stays known')
  })

  it('that answers a request in data is read as an answer to it', async () => {
    const asked = await turn({ skill: 'track-event', eventName: 'buy' })
    assert.ok(asked.kind === 'stop')
    await turn('user ana', asked.request)
    assert.deepEqual(seen, {
      kind: 'ask',
      skill: 'track-event',
      data: { eventName: 'buy' },
      missing: ['target'],
      question: 'Send the missing field: deviceId or projectUserId or userId.',
      understood: ''
    })
  })

  it('for everyone waits for a yes: no other text, and no data without the skill, starts it', async () => {
    const asked = await turn('everyone')
    assert.ok(asked.kind === 'stop')
    assert.equal(asked.reason, 'To all. Sure?')
    for (const other of ['maybe', {}, { properties: {} }, { campaignId: 'a' }])
      assert.equal((await turn(other, asked.request)).kind, 'stop')
    assert.equal((await turn('yes', asked.request)).kind, 'run')
    assert.equal((await turn({ skill: 'trigger-campaign', campaignId: 'a' }, asked.request)).kind, 'run')
  })

  it('that says no ends the task', async () => {
    const read = await turn('no')
    assert.ok(read.kind === 'stop')
    assert.deepEqual([read.state, read.reason], ['canceled', 'Nothing was done.'])
  })

  it('beside data is only a remark', async () => {
    const parts = [{ text: 'no' }, { data: { skill: 'create-user', projectUserId: 'a', unknown: 1 } }]
    const read = await takeTurn(message('', { parts }), undefined, { skills, readText })
    assert.ok(read.kind === 'run')
    assert.deepEqual(read.request, { skill: 'create-user', fields: { projectUserId: 'a' } })
  })
})

describe('a stream', () => {
  const nobody = { subscribe: () => () => {} }
  /** A task with many states, each of some size. */
  function long(entries: number): Task {
    const status = { state: 'working' as const, at: 'x'.repeat(1_000) }
    return { ...task(), log: Array.from({ length: entries }, () => ({ status })), status }
  }

  it('holds back what its reader does not read', async () => {
    const streams = createStreams(nobody)
    const stream = await streams.open('p' as never, async () => ({
      id: 1,
      dialect: official,
      task: long(10_000),
      from: 1,
      waits: true
    }))
    await new Promise((resolve) => setTimeout(resolve, 50))
    assert.ok(stream.readableLength < 100_000, `${stream.readableLength} bytes wait`)
    let events = 0
    for await (const chunk of stream) {
      events += String(chunk).split('data: ').length - 1
      if (events === 10_000) break
    }
    assert.equal(events, 10_000)
    assert.deepEqual(streams.stats(), { open: 0, places: 0, beating: false })
  })

  it('keeps no messages of its task, of which only the first event shows any', async () => {
    const kept: number[] = []
    let changed: (task: Task) => void = () => {}
    const watch = {
      subscribe(_: unknown, __: unknown, watcher: typeof changed) {
        changed = watcher
        return () => {}
      }
    }
    const update: typeof official.update = ({ history }) => kept.push(history.length)
    const began = { ...long(2), history: [message('x')] }
    const streams = createStreams(watch)
    const wish = { id: 1, dialect: { ...official, update }, task: began, from: 1, waits: true }
    const stream = await streams.open('p' as never, async () => wish)
    stream.resume()
    await eventually(() => assert.equal(kept.length, 1))
    changed({ ...long(3), history: began.history, revision: 9 })
    assert.deepEqual(kept, [0, 0])
    streams.close()
  })

  it('sends comments while nothing happens, and none when the client does not read', async () => {
    const streams = createStreams(nobody, { beatMs: 10 })
    const wish = async () => ({ id: 1, dialect: plain, task: task(), from: 1, waits: true })
    const read = await streams.open('p' as never, wish)
    let text = ''
    read.on('data', (chunk) => {
      text += chunk
    })
    const unread = await streams.open('p' as never, wish)
    await eventually(() => assert.ok(text.split(': still here\n\n').length > 3))
    assert.match(text, /^data: \{.*\}\n\n(: still here\n\n)+$/)
    assert.ok(unread.readableLength < 1_000)
    streams.close()
    await eventually(() => assert.deepEqual(streams.stats(), { open: 0, places: 1, beating: false }))
    unread.destroy()
    await eventually(() => assert.equal(streams.stats().places, 0))
  })
})

describe('the run of a skill', () => {
  it('is not given up when the clock is set ahead', async (test) => {
    const renewed: unknown[] = []
    const runs = createRuns({ run: async (...asked: unknown[]) => renewed.push(asked) } as never, {} as never)
    mock.timers.enable({ apis: ['Date', 'setInterval'], now: Date.now() })
    test.after(() => mock.timers.reset())
    const { signal } = runs.begin('p' as never, 't')
    mock.timers.tick(100_000)
    assert.deepEqual([signal.aborted, renewed], [false, []])
    runs.end('t')
  })
})
