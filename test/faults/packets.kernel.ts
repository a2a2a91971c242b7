import assert from 'node:assert/strict'
import { it } from 'node:test'
import { hasOwnNetwork, noKernelFaults, type PacketFault, packets } from '../support/kernel.ts'
import { shown, underLoad } from '../support/load.ts'
import { outage } from '../support/outage.ts'

// The kernel drops, loses or resets packets between nodes and their database, or a gateway. The command gives the test a
// network of its own, which its rules do not leave:
//   TIDINGS_LONG=1 unshare -n sh -c 'ip link set lo up && node test/run.ts test/faults/packets.kernel.ts'
const skip = noKernelFaults() ?? (hasOwnNetwork() ? false : 'needs a network of its own: unshare -n')
const people = 400
const faults: [string, PacketFault][] = [
  ['are dropped', 'dropped'],
  ['are reset', 'reset'],
  ['are lost, five of a hundred', { lostPercent: 5 }]
]

for (const between of ['database', 'gateway'] as const)
  for (const [what, fault] of faults)
    it(`packets to the ${between} that ${what} for 20 seconds lose nothing that was acknowledged`, {
      skip
    }, async (t) => {
      const world = await outage(t, { nodes: 2, people, latencyMs: 50 }, { DEADLINE_MS: '' })
      const way = packets(between === 'database' ? Number(new URL(world.proxy.url).port) : world.gatewayLink.port)
      const load = { people, seconds: 20, begin: () => way.set(fault), end: way.mend }
      const figures = await underLoad(world, load)
      t.diagnostic(`packets to the ${between} ${what}: ${shown(figures)}`)
      assert.equal(figures.lost, 0)
      if (between === 'database') assert.equal(figures.doubled, 0)
    })
