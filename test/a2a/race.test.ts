import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ended, givenCampaign } from '../support/campaigns.ts'
import type { Json, Reply } from '../support/http.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'
import { type Agent, agentOf } from './agent.ts'

const rounds = process.env.TIDINGS_LONG ? 200 : 20
const unlimited = { requests_per_second: 0, client_requests_per_second: 0, triggers_per_second: 0 }
const service = await startService()
const other = await service.another()

async function shop() {
  const project = await service.project({ mode: 'simulator', limits: unlimited })
  for (const name of ['ana', 'bo', 'cy']) {
    const device = { platform: 'IOS', project_user_id: name, device_id: `${name}-phone` }
    assert.equal(
      (await service.manage('POST', `/projects/${project.id}/simulator/devices`, { json: device })).status,
      201
    )
  }
  const message = { title: '{{ trigger.round }}' }
  await givenCampaign(service, project, { campaign_id: 'news', message, default_audience: { broadcast: true } })
  return { project, agents: [service, other].map((node) => agentOf(node, project, 'plain')) as [Agent, Agent] }
}

/** The titles of everything that reached a phone. */
async function arrived({ id }: TestProject): Promise<string[]> {
  const rows = await service.sql('select item from simulator_inbox where project_id = $1', [id])
  return rows.map(({ item }) => item)
}

interface Race {
  question: string
  answer: Json
  round: number
  /** The milliseconds between the two requests. In every second round they reach different nodes. */
  apart: number | undefined
}
interface Raced {
  /** The response to the cancellation: the task, or an error. */
  cancel: Reply | undefined
  task: Json
  /** The milliseconds until the answer got its response. */
  took: number
}

/** Asks a question and sends its answer, with a cancellation at the same time unless `apart` is undefined. */
async function race([here, there]: [Agent, Agent], { question, answer, round, apart }: Race): Promise<Raced> {
  const asked = await here.send(question)
  assert.equal(asked.status.state, 'input-required', JSON.stringify(asked.status))
  const cancelsFirst = Math.floor(round / 11) % 3 === 0
  const canceler = round % 2 === 0 ? there : here
  const beganAt = performance.now()
  let took = 0
  const [cancel] = await Promise.all([
    apart === undefined
      ? undefined
      : sleep(cancelsFirst ? 0 : apart).then(() => canceler.call('cancel', { id: asked.id })),
    sleep(cancelsFirst && apart !== undefined ? apart : 0)
      .then(() => here.call('send', { message: here.message(answer, { taskId: asked.id }) }))
      .then(() => {
        took = performance.now() - beganAt
      })
  ])
  const task = await eventually(async () => {
    const found = await here.get(asked.id)
    assert.match(found.status.state, /^(completed|canceled|failed|rejected)$/)
    return found
  })
  return { cancel, task, took }
}

/**
 * Whether the response to the cancellation agrees with the end of the task. A task that was stopped on the way has
 * failed.
 */
function isTrue({ cancel, task }: Raced): boolean {
  const { error, result } = cancel!.json
  if (error) return error.code === -32002 && /^(completed|failed)$/.test(task.status.state)
  return result.status.state === 'canceled' && task.status.state === 'canceled'
}

const dataOf = (task: Json) => (task.artifacts ?? []).flatMap(({ parts }: Json) => parts.map(({ data }: Json) => data))

type Judged = Raced & { happened: unknown; lie: boolean }

/**
 * Races that many times, and returns the rounds in which a response of the service was not true. The two requests are 0
 * to 10 ms apart, or up to 50 ms for work that takes longer.
 */
async function lies(t: TestContext, run: (name: string, at: Pick<Race, 'round' | 'apart'>) => Promise<Judged>) {
  const alone = await run('alone', { round: 0, apart: undefined })
  assert.deepEqual([alone.task.status.state, alone.lie], ['completed', false])
  const longest = Math.min(Math.max(10, alone.took), 50)
  const found: unknown[] = []
  let canceled = 0
  for (let round = 0; round < rounds; round++) {
    const { happened, lie, ...raced } = await run(`round-${round}`, { round, apart: ((round % 11) / 10) * longest })
    if (raced.task.status.state === 'canceled') canceled++
    if (lie || !isTrue(raced))
      found.push([round, raced.cancel!.text, raced.task.status, raced.task.artifacts, happened])
  }
  t.diagnostic(`${rounds} rounds up to ${Math.round(longest)} ms apart, ${canceled} canceled, ${found.length} lies`)
  return found
}

describe('CancelTask at the same time as the answer that starts the work', () => {
  it('of a broadcast: canceled means that no phone got it, and done that the task names its trigger', async (t) => {
    const { project, agents } = await shop()
    const reached: [string, number][] = []
    const found = await lies(t, async (name, at) => {
      const question = `Trigger campaign news for all users with round=${name}`
      const raced = await race(agents, { question, answer: 'yes', ...at })
      const rows = await service.sql(`select id from triggers where project_id = $1 and properties ->> 'round' = $2`, [
        project.id,
        name
      ])
      const happened = await Promise.all(rows.map(({ id }) => ended(project, id)))
      const sent = happened.reduce((sum, { counts }) => sum + counts.sent, 0)
      reached.push([name, sent])
      if (raced.task.status.state === 'canceled')
        return { ...raced, happened, lie: sent > 0 || happened.some(({ state }) => state !== 'canceled') }
      const shown = dataOf(raced.task).map(({ triggerId }: Json) => triggerId)
      return { ...raced, happened, lie: rows.length !== 1 || shown.length !== 1 || shown[0] !== rows[0].id }
    })
    assert.deepEqual(found, [])
    await eventually(async () => {
      const items = await arrived(project)
      for (const [name, phones] of reached)
        assert.equal(items.filter((item) => item.includes(`"${name}"`)).length, phones, name)
    })
  })

  it('of a push: canceled means that no phone got it, and done that the task shows its messages', async (t) => {
    const { project, agents } = await shop()
    const reached: [string, number][] = []
    const found = await lies(t, async (name, at) => {
      const raced = await race(agents, { question: 'Send a push to user ana', answer: { title: name }, ...at })
      const happened = await service.sql(
        `select message_id, state from messages where project_id = $1 and content #>> '{notification,title}' = $2`,
        [project.id, name]
      )
      const sent = happened.filter(({ state }) => state !== 'skipped')
      reached.push([name, sent.length])
      if (raced.task.status.state === 'canceled') return { ...raced, happened, lie: sent.length > 0 }
      const shown = dataOf(raced.task).flatMap(({ results }: Json) => results.map(({ messageId }: Json) => messageId))
      return { ...raced, happened, lie: sent.length !== 1 || shown.length !== 1 || shown[0] !== sent[0].message_id }
    })
    assert.deepEqual(found, [])
    await eventually(async () => {
      const items = await arrived(project)
      for (const [name, phones] of reached)
        assert.equal(items.filter((item) => item.includes(`"${name}"`)).length, phones, name)
    })
  })
})
