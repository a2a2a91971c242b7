import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Shares } from '../../src/platform/http/shares.ts'
import { startService } from '../support/service.ts'
import { askTimes, counterOf, refusedBy } from './hammer.ts'

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate)
}

/** Shares whose clock the test moves; `begun` and `shed` list the projects in order. */
function given(backlog: (project: string) => number = () => 0, busy = false) {
  const log = { begun: [] as string[], shed: [] as string[] }
  let nowMs = 1_000
  const shares = new Shares({ backlogOf: backlog, clock: () => nowMs, isBusy: () => busy })
  const enter = (project: string, count: number) => {
    for (let index = 0; index < count; index += 1)
      shares.enter(
        project,
        () => log.begun.push(project),
        () => log.shed.push(project)
      )
  }
  return {
    ...log,
    shares,
    enter,
    pass: (ms: number) => {
      nowMs += ms
    }
  }
}

describe('requests are begun projects by turns', () => {
  it('at once while a turn has room, and no more than 16 in a turn', async () => {
    const { begun, enter } = given()
    enter('noisy', 100)
    assert.equal(begun.length, 16)
    await turns(1)
    assert.equal(begun.length, 32)
    await turns(8)
    assert.equal(begun.length, 100)
  })

  it('a quiet project is begun in the next turn, however many of another wait', async () => {
    const { begun, enter } = given()
    enter('noisy', 5_000)
    enter('quiet', 1)
    await turns(1)
    assert.ok(begun.slice(16, 19).includes('quiet'), 'among the first of the turn')
  })

  it('the first request of a project in a turn does not wait for those of another', () => {
    const { begun, enter } = given()
    enter('noisy', 100)
    enter('quiet', 1)
    assert.deepEqual([begun.length, begun.at(-1)], [17, 'quiet'])
  })

  it('a flood beside another project is cut to 64, of that project alone, and stays one while it pauses', async () => {
    const { begun, shed, enter, pass, shares } = given()
    enter('quiet', 1)
    enter('noisy', 1_100)
    pass(1_001)
    enter('quiet', 1)
    enter('noisy', 5)
    assert.equal(shed.length, 5, 'new requests are shed at once')
    await turns(80)
    assert.equal(begun.filter((project) => project === 'quiet').length, 2)
    assert.ok(shed.length > 600 && shed.every((project) => project === 'noisy'), `${shed.length} were shed`)
    assert.equal(begun.length + shed.length, 1_107)
    assert.equal(shares.shed(), shed.length)
    const before = { begun: begun.length, shed: shed.length }
    pass(1_000)
    enter('noisy', 100)
    assert.equal(shed.length - before.shed + (begun.length - before.begun), 100 - 64, 'the queue is short still')
    await turns(20)
    const after = shed.length
    pass(3_001)
    enter('noisy', 100)
    await turns(20)
    assert.equal(shed.length, after, 'a project that shed nothing for three seconds may burst again')
  })

  it('a burst of a thousand beside another project is served, however slow the database is', async () => {
    let backlog = 64
    const { begun, shed, enter, pass } = given((project) => (project === 'noisy' ? backlog : 0))
    enter('quiet', 1)
    enter('noisy', 1_000)
    pass(5_000)
    enter('quiet', 1)
    await turns(20)
    assert.deepEqual([begun.length, shed.length], [2, 0])
    backlog = 0
    await new Promise((resolve) => setTimeout(resolve, 300))
    assert.deepEqual([begun.length, shed.length], [1_002, 0])
  })

  it('in a busy process a flood begins one request in a turn', async () => {
    const { begun, enter, pass } = given(undefined, true)
    enter('quiet', 1)
    enter('noisy', 1_100)
    pass(501)
    enter('quiet', 1)
    await turns(40)
    const noisy = () => begun.filter((project) => project === 'noisy').length
    enter('noisy', 20)
    const before = noisy()
    await turns(1)
    assert.equal(noisy() - before, 1)
  })

  it('S9: of a flood the latest request is begun, and one that waited for 10 ms is shed', async () => {
    const { enter, pass, shares, shed } = given(undefined, true)
    enter('quiet', 1)
    enter('noisy', 1_100)
    pass(501)
    enter('quiet', 1)
    await turns(40)
    const begun: number[] = []
    const note = (from: number) => {
      for (let index = from; index < from + 10; index += 1)
        shares.enter(
          'noisy',
          () => begun.push(index),
          () => shed.push('noisy')
        )
    }
    enter('noisy', 8)
    note(0)
    await turns(1)
    assert.deepEqual(begun, [9])
    pass(11)
    const before = shed.length
    note(10)
    await new Promise((resolve) => setTimeout(resolve, 30))
    assert.equal(shed.length - before, 9, 'those that wait since before')
    assert.ok(begun.length > 1 && begun.slice(1).every((index) => index >= 10), String(begun))
  })

  it('beside another project a turn begins 8 requests', async () => {
    const { begun, enter } = given()
    enter('quiet', 1)
    enter('noisy', 100)
    assert.equal(begun.length, 8)
    await turns(1)
    assert.equal(begun.length, 16)
  })

  it('a long queue that turns out to be a flood is shed over many turns', async () => {
    const { shed, enter, pass } = given()
    enter('quiet', 1)
    enter('noisy', 5_000)
    pass(501)
    enter('quiet', 1)
    await turns(1)
    assert.equal(shed.length, 64)
  })

  it('a pause of all sheds nothing of a project that is alone', async () => {
    const { begun, shed, enter, pass } = given()
    enter('alone', 200)
    pass(900)
    await turns(20)
    assert.deepEqual([begun.length, shed.length], [200, 0])
  })

  it('a project whose writes wait for the database is held, and others are not', async () => {
    let backlog = 64
    const { begun, enter } = given((project) => (project === 'noisy' ? backlog : 0))
    enter('noisy', 3)
    enter('quiet', 2)
    await turns(5)
    assert.deepEqual(begun, ['quiet', 'quiet'])
    backlog = 63
    await new Promise((resolve) => setTimeout(resolve, 50))
    assert.equal(begun.length, 5)
  })
})

describe('refusals do not take the time of others', async () => {
  const service = await startService({ DATABASE_POOL_SIZE: '2' })

  it('a connection that hammers its limit is answered ever more slowly', async () => {
    const project = await service.project({ limits: { requests_per_second: 1 } })
    const refused = await refusedBy(service, project, 1_500)
    assert.ok(refused.length >= 3 && refused.length < 12, `${refused.length} refusals in 1.5 s on one connection`)
    const [first] = refused
    assert.ok(first!.status === 429 && first!.retryAfter !== undefined)
  })

  it('a flood of one project that fills the process is shed with 503, Retry-After and the code overloaded', async () => {
    const [noisy, quiet] = await Promise.all([
      service.project({ limits: { requests_per_second: 0 } }),
      service.project()
    ])
    const { statuses, sample, quietStatuses } = await askTimes(service, noisy, quiet)
    assert.deepEqual([...new Set(quietStatuses)], [200], 'the quiet project always gets through')
    assert.deepEqual([...statuses.keys()].toSorted(), [200, 503])
    assert.deepEqual(sample, { retryAfter: '1', json: { error: 'Service Unavailable', code: 'overloaded' } })
    assert.equal(await counterOf(service, 'tidings_http_requests_shed_total'), statuses.get(503))
  })
})
