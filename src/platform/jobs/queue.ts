import { newId } from '../ids.ts'
import { type JobDefinition, workQueue } from './definition.ts'
import { createReach } from './reach.ts'
import { type Claimed, createRun, nowMs, type Run } from './run.ts'
import type { Session } from './session.ts'
import * as store from './store.ts'

/** Projects that share one claim. Each costs a probe, so not more than jobs are wanted, … */
const mostLanes = 32
/** … but some, because another worker may hold all that is ready in the first ones. */
const leastLanes = 4
const jobsPerClaim = 200
/** Jobs of a queue that may wait without a slot, for each slot and in all: this bounds memory, and leases to renew. */
const waitingPerSlot = 64
const mostWaiting = 2_000

export interface QueueOptions {
  name: string
  /** Every job that the worker can run. */
  definitions: ReadonlyMap<string, JobDefinition>
  concurrency: number
  session: Session
  nodeId: string
  begin: (run: Run) => void
  ring: () => void
}

export type Queue = ReturnType<typeof createQueue>

/** The slots of one queue in this process. Slots of other queues have no influence on it. */
export function createQueue({ name, definitions, concurrency, session, nodeId, begin, ring }: QueueOptions) {
  const own = [...definitions.values()].filter((job) => name === workQueue || job.queue === name)
  const names = own.map((job) => job.name)
  const leases = own.map(({ leaseMs }) => leaseMs)
  /** Everything this queue has claimed: running, waiting without a slot, or ended and not yet recorded. */
  const runs = new Set<Run>()
  const reach = createReach()
  let waiting = 0
  /** Whether there may be ready jobs. It is put down when a claim comes back empty. */
  let hinted = true
  let claiming = false
  let from = ''

  function freeSlot(run: Run): void {
    if (run.waits || !runs.has(run) || waiting >= Math.min(waitingPerSlot * concurrency, mostWaiting)) return
    run.waits = true
    waiting += 1
    if (hinted) ring()
  }

  const free = () => concurrency - (runs.size - waiting)

  async function claim(): Promise<void> {
    const token = newId()
    const sentAt = nowMs()
    const wanted = Math.min(free(), jobsPerClaim)
    const lanes = Math.max(leastLanes, Math.min(wanted, mostLanes))
    // Put down before asking: a hint that comes while the claim is under way must count.
    hinted = false
    const backMs = reach.lookBackMs()
    const values = [token, nodeId, wanted, from, lanes, names, leases, backMs, name]
    claiming = true
    const claimed = await session.query<Claimed>(store.claim, values).finally(() => {
      claiming = false
    })
    hinted ||= claimed.length > 0 || from !== ''
    if (!hinted) reach.clear(sentAt, backMs)
    // Where not every project could be served, the next claim goes on after the last one that was. U+0001 is the least
    // character a text can continue with.
    const served = [...new Set(claimed.map(({ lane }) => lane))].sort(byBytes)
    from = served.length >= Math.min(lanes, wanted) ? `${served.at(-1)}\u0001` : ''
    for (const job of claimed) {
      const definition = definitions.get(job.name)!
      const run = createRun(job, definition, token, sentAt + definition.leaseMs, freeSlot)
      runs.add(run)
      begin(run)
    }
    if (hinted) ring()
  }

  return {
    name,
    hint(): void {
      hinted = true
    },
    isClaiming: () => claiming,
    /** Whether a claim is worth its round trip. */
    wants: () => hinted && free() > 0,
    claim,
    leave(run: Run): void {
      if (!runs.delete(run)) return
      if (run.waits) waiting -= 1
      // An ended job may have left another behind: one that recurs, or one that was asked for again.
      hinted = true
    }
  }
}

/** As the database sorts projects (collation "C"), where JavaScript would compare UTF-16 units. */
const byBytes = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other))
