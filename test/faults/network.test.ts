import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import type { LinkState } from '../support/link.ts'
import { shown, underLoad } from '../support/load.ts'
import { outage } from '../support/outage.ts'

// Faults of the network between a node and its database, and between a node and a gateway. TIDINGS_LONG=1 lets each
// last half a minute on two nodes and prints its figures: docs/explanations/guarantees.md has them.
const long = process.env.TIDINGS_LONG !== undefined
const people = 400

interface Fault {
  what: string
  between: 'database' | 'gateway'
  state: LinkState
  seconds: number
  /** Pushes whose response was lost may be sent again. */
  mayDouble?: boolean
}

const faults: Fault[] = [
  { what: 'a database that takes 200 ms for each statement', between: 'database', state: { slowMs: 200 }, seconds: 2 },
  {
    what: 'a far database that loses data on the way',
    between: 'database',
    state: { delayMs: 20, lossPercent: 2 },
    seconds: 3
  },
  { what: 'a silent way to the database', between: 'database', state: { silent: true }, seconds: 2 },
  { what: 'a way to the database that is cut', between: 'database', state: { cut: true }, seconds: 2 },
  {
    what: 'a far gateway that loses data on the way',
    between: 'gateway',
    state: { delayMs: 150, lossPercent: 3 },
    seconds: 3
  },
  { what: 'a silent way to the gateway', between: 'gateway', state: { silent: true }, seconds: 2 },
  { what: 'a way to the gateway that is cut', between: 'gateway', state: { cut: true }, seconds: 2, mayDouble: true }
]

async function survives(t: TestContext, world: Awaited<ReturnType<typeof outage>>, fault: Fault): Promise<void> {
  const link = fault.between === 'database' ? world.proxy : world.gatewayLink
  const before = world.repeated().length
  const figures = await underLoad(world, {
    people,
    seconds: long ? 30 : fault.seconds,
    begin: () => link.set(fault.state),
    end: () => link.set({})
  })
  t.diagnostic(`${fault.what}: ${shown({ ...figures, doubled: figures.doubled - before })}`)
  assert.equal(figures.lost, 0)
  if (!fault.mayDouble && !long) assert.equal(figures.doubled, before)
}

if (long)
  for (const fault of faults)
    it(`${fault.what} for half a minute loses nothing that was acknowledged`, async (t) =>
      survives(t, await outage(t, { nodes: 2, people, latencyMs: 50 }, { DEADLINE_MS: '' }), fault))
else
  it('slow, lossy, silent and cut ways to the database and to a gateway lose nothing that was acknowledged', async (t) => {
    const world = await outage(t, { nodes: 1, people, latencyMs: 20 })
    for (const fault of faults) await survives(t, world, fault)
  })
