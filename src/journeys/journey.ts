/** A user on the way through a campaign. */
export interface Journey {
  id: string
  campaign_id: string
  campaign_version: number
  user_id: string
  source: Source
  properties: Record<string, unknown>
  inherits: boolean
  sequence: boolean
  entered_at: Date
  step: number
  due_at: Date
  first_trigger: string | null
  state: 'waiting' | 'completed' | 'exited' | 'stopped'
  reason: string | null
}

/** What a journey began with. */
export type Source = { kind: 'event'; event: string; event_id: string } | { kind: 'trigger'; trigger_id: string }

/** Users who are due together. */
export interface Bucket {
  campaignId: string
  version: number
  step: number
  dueAt: Date
}

/** The columns of a journey. */
export const columns = `id, campaign_id, campaign_version, user_id, source, properties, inherits, sequence, entered_at, step, due_at,
          first_trigger, state, reason`

/** Later than any journey is due. */
export const endOfTime = new Date('9999-12-31')
