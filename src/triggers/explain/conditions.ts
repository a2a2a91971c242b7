import { type Ready, type StoredTarget, writtenSegment } from '../../campaigns/campaigns.ts'
import type { Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { steadyMs } from '../../platform/time.ts'
import { conditionsOf, explainSegment, failuresOf, patiently, SegmentFailed } from '../../segments/segments.ts'
import type { RunningTrigger } from '../batches/expansion-store.ts'
import type { Gate } from '../schemas.ts'

/** How long the conditions wait for their turn. */
const conditionsMs = 3_000
/** Conditions that the sentence names; the list has all of them. */
const mostNamed = 3

interface Known {
  trigger: RunningTrigger
  ready: Ready
  userId: string
  devices: string[]
  /** The targets of the trigger that name the user or a device, with their properties. */
  named: StoredTarget[]
}

/** Adds each condition of the segment to its gate, with the values that the user has now. */
export async function withConditions(
  pool: Pool,
  projectId: ProjectId,
  gate: Gate,
  { trigger, ready, userId, devices, named }: Known
): Promise<Gate> {
  const { campaign_id, campaign_version, started_at } = trigger
  const properties = { ...trigger.properties, ...named[0]?.[2] }
  const written = await writtenSegment(pool, projectId, campaign_id, campaign_version)
  const explain = () =>
    explainSegment(
      pool,
      projectId,
      ready.definition.segment,
      { userId, deviceIds: devices },
      { properties, now: started_at, written }
    )
  const tree = await patiently(explain, steadyMs() + conditionsMs).catch((error: unknown) => {
    if (error instanceof SegmentFailed) return undefined
    throw error
  })
  if (!tree) return gate
  const conditions = conditionsOf(tree)
  if (conditions.length === 0) return gate
  return { ...gate, message: sentenceOf(gate, failuresOf(tree)), conditions }
}

/** The sentence of the gate, with what stops the user now. */
function sentenceOf({ passed, reason, message }: Gate, failures: string[]): string {
  if (passed || reason === 'segment_too_slow' || reason === 'segment_invalid') return message
  const wasPast = message.includes(' when the trigger ran')
  if (failures.length === 0) return wasPast ? `${message} Now the user is in it.` : message
  const more = failures.length - mostNamed
  const named = `${failures.slice(0, mostNamed).join('; ')}${more > 0 ? `; and ${more} more` : ''}`
  return wasPast ? `${message} Now: ${named}.` : `${message.slice(0, -1)}: ${named}.`
}
