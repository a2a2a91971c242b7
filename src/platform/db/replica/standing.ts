import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { type Position, type Replay, replay } from './store.ts'

/** How long a read waits for the replica to catch up with the primary. One that takes longer lags too far behind. */
export const patienceMs = 500
const pauseMs = 5

/** The replica cannot serve reads now. The message continues a sentence that begins with its name. */
export class Unfit extends Error {
  readonly ageSeconds: number | null

  constructor(message: string, ageSeconds: number | null = null) {
    super(message)
    this.ageSeconds = ageSeconds
  }
}

/** Waits until the server behind a connection has everything that the primary had written at a position. */
export async function catchUp(client: pg.ClientBase, to: Position, limitMs = patienceMs): Promise<void> {
  if (to.distributed) throw new Unfit('is not used: the workers of a distributed database have no common position')
  const giveUpAt = performance.now() + limitMs
  for (;;) {
    const { rows } = await client.query<Replay>({
      text: replay.text,
      values: [to.lsn],
      query_timeout: limitMs + 1_000
    } as pg.QueryConfig)
    const state = rows[0]!
    const fault = faultOf(state, to)
    if (fault) throw new Unfit(fault)
    if (state.reached) return
    if (performance.now() > giveUpAt) throw new Unfit(`lags more than ${limitMs} ms behind`, state.age_seconds)
    await sleep(pauseMs)
  }
}

function faultOf({ standby, timeline, system, database }: Replay, to: Position): string | undefined {
  if (!standby) return 'is not a standby'
  if (system !== to.system) return 'follows another primary'
  if (database !== to.database) return `leads to the database ${database}, and DATABASE_URL to ${to.database}`
  if (timeline !== to.timeline) return `follows timeline ${timeline}, and the primary has ${to.timeline}`
  return undefined
}
