import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { createConfirmations, type Redeemed } from '../../src/oversight/confirmations/confirmations.ts'
import type { Facts } from '../../src/oversight/oversight.ts'
import { openPool } from '../../src/platform/db/db.ts'
import { claimKey, settleKey } from '../../src/platform/idempotency/idempotency.ts'
import { newId, type ProjectId } from '../../src/platform/ids.ts'
import { silentLog } from '../support/log.ts'
import { eventually, startService } from '../support/service.ts'

const service = await startService()
const [here, elsewhere] = [(await service.project()).id, (await service.project()).id] as [ProjectId, ProjectId]
const pool = openPool({ connectionString: service.databaseUrl }, silentLog, 4)
after(() => pool.close())

const minute = 60_000
const command = { campaignId: 'news', audience: { broadcast: true as const }, properties: { code: 'A' } }
const factsNow: Facts = {
  campaignId: 'news',
  campaignName: 'News',
  campaignVersion: 1,
  broadcast: true,
  recipients: 100,
  devices: 120,
  excluded: {},
  sample: [],
  complete: true,
  obstacle: null
}
/** The present audience and the present time. */
const world = { facts: factsNow, at: Date.now() }
const confirmations = createConfirmations({
  pool,
  factsOf: async () => world.facts,
  idempotencyHours: 24,
  now: () => world.at
})
const [ana, bo] = [{ actor: 'key ana' }, { actor: 'key bo' }]

/** Shows the present facts. */
function issued(caller = ana, projectId = here): Promise<string> {
  world.facts = factsNow
  return confirmations.issue(projectId, caller, command, factsNow)
}
const redeem = (id: string, { caller = ana, projectId = here } = {}) => confirmations.redeem(projectId, caller, id)
const reasonOf = (found: Redeemed) => ('reason' in found ? found.reason : found.kind)

describe('confirmations', () => {
  it('a yes of the caller that was asked stands for the command and the version that were shown', async () => {
    const id = await issued()
    const found = await redeem(id)
    assert.ok(found.kind === 'confirmed' && !found.repeated)
    assert.deepEqual(found.command, { ...command, campaignVersion: 1 })
    assert.deepEqual([found.key.scope, found.key.key], ['confirmation', id])
  })

  it('an id lasts 15 minutes; after that the same request is asked about again', async () => {
    const id = await issued()
    world.at += 15 * minute - 1
    assert.equal((await redeem(id)).kind, 'confirmed')
    world.at += 1
    const found = await redeem(id)
    assert.ok(found.kind === 'again')
    assert.match(found.reason, /15 minutes/)
    assert.deepEqual(found.command, command)
  })

  it('changes of the campaign and of the audience void the id, also where they are taken back', async () => {
    const id = await issued()
    world.facts = { ...factsNow, recipients: 105 }
    assert.equal((await redeem(id)).kind, 'confirmed')
    world.facts = { ...factsNow, recipients: 110 }
    const found = await redeem(id)
    assert.ok(found.kind === 'again' && found.facts?.recipients === 110)
    world.facts = factsNow
    assert.equal((await redeem(id)).kind, 'unknown')
    const other = await issued()
    world.facts = { ...factsNow, campaignVersion: 2 }
    assert.match(reasonOf(await redeem(other)), /version 2, not 1/)
  })

  it('ids of other keys and projects, unknown ones and no ids at all are not known', async () => {
    const id = await issued()
    const foreign = [
      await redeem(id, { caller: bo }),
      await redeem(id, { projectId: elsewhere }),
      await redeem(newId()),
      await redeem('nonsense')
    ]
    assert.deepEqual(new Set(foreign.map(({ kind }) => kind)), new Set(['unknown']))
    assert.equal(new Set(foreign.map(reasonOf)).size, 1)
    assert.equal((await redeem(id)).kind, 'confirmed')
  })

  it('an id that is given with another command asks about that command', async () => {
    const id = await issued()
    const other = { ...command, properties: { code: 'B' } }
    const found = await confirmations.redeem(here, ana, id, other)
    assert.ok(found.kind === 'again')
    assert.deepEqual(found.command, other)
    assert.equal((await confirmations.redeem(here, ana, id, { ...command, campaignVersion: 2 })).kind, 'again')
    assert.equal((await confirmations.redeem(here, ana, id, { ...command, campaignVersion: 1 })).kind, 'confirmed')
  })

  it('once it led to a trigger, every repeat returns that, whatever has changed and however late', async () => {
    const id = await issued()
    const first = await redeem(id)
    assert.ok(first.kind === 'confirmed')
    await claimKey(pool, here, first.key, {}, 24)
    await settleKey(pool, here, first.key, { trigger_id: 't' })
    world.facts = { ...factsNow, campaignVersion: 2, recipients: 1 }
    world.at += 20 * minute
    const found = await redeem(id)
    assert.ok(found.kind === 'confirmed' && found.repeated)
    assert.deepEqual(found.key, first.key)
  })

  it('a no ends it, but only that of the caller that was asked', async () => {
    const id = await issued()
    await confirmations.revoke(here, bo, id)
    assert.equal((await redeem(id)).kind, 'confirmed')
    await confirmations.revoke(here, ana, id)
    assert.equal((await redeem(id)).kind, 'unknown')
  })

  it('maintenance deletes those that a repeat can no longer name, and none that still lasts', async () => {
    const [old, recent] = [await issued(), await issued()]
    await service.sql(`update confirmations set expires_at = now() - interval '25 hours' where id = $1`, [old])
    await service.sql(`update confirmations set expires_at = now() - interval '23 hours' where id = $1`, [recent])
    await service.hurry('oversight.keep')
    await eventually(async () => {
      const kept = await service.sql('select id from confirmations where id = any($1)', [[old, recent]])
      assert.deepEqual(kept, [{ id: recent }])
    })
  })

  it('goes with its project', async () => {
    const project = await service.project()
    await issued(ana, project.id as ProjectId)
    assert.equal((await service.manage('DELETE', `/projects/${project.id}`)).status, 200)
    await eventually(async () =>
      assert.deepEqual(await service.sql('select 1 from confirmations where project_id = $1', [project.id]), [])
    )
  })
})
