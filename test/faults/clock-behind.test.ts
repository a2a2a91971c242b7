import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { givenCampaign, triggered, users } from '../support/campaigns.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService } from '../support/service.ts'

// In a process of its own, because it sets the clock of its process back.
const Real = Date
let behindMs = 0
globalThis.Date = class extends Real {
  constructor(...given: ConstructorParameters<typeof Real> | []) {
    if (given.length === 0) super(Real.now() - behindMs)
    else super(...given)
  }
  static override now(): number {
    return Real.now() - behindMs
  }
} as DateConstructor

const sender = scriptedSender()
const service = await startService({}, { sender })

describe('a node whose clock is behind the one of the database', () => {
  it('A.6: starts a trigger with send_at at its time', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'send-at')
    await givenCampaign(service, project)
    behindMs = 400
    const due = Real.now() + 1_000
    await triggered(project, { ...users('ana'), send_at: new Real(due).toISOString() })
    // Before the sweeper, which finds it after 15 s, would start it.
    await eventually(() => assert.equal(sender.to('send-at').length, 1), 10_000)
    assert.ok(Real.now() >= due)
  })

  it('A.6: sends a batch that quiet hours held when they end, and holds it once', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'held')
    // By this node's clock they are not over yet.
    const at = (minutes: number) => new Real(Real.now() + minutes * 60_000).toISOString().slice(11, 16)
    const quiet_hours = { from: at(-60), to: at(-1), timezone: 'UTC', action: 'hold' }
    await givenCampaign(service, project, { quiet_hours })
    behindMs = 180_000
    const id = await triggered(project, users('ana'))
    await eventually(() => assert.equal(sender.to('held').length, 1))
    const [row] = await service.sql('select chunks from triggers where id = $1', [id])
    assert.equal(row!.chunks, 2)
  })
})
