/**
 * What is answered about triggers, as it reads in JSON. The routes make it, the command line and the page of the console
 * read it. It imports nothing, so that a browser can have its types.
 */

/** A trigger and what became of it so far. */
export interface AnsweredTrigger {
  trigger_id: string
  campaign_id: string
  campaign_version: number
  state: string
  reason: string | null
  accepted_at: string
  expanded_at: string | null
  ended_at: string | null
  counts: Record<'targeted' | 'sent' | 'failed' | 'skipped' | 'pending' | 'delivered' | 'tapped', number>
  skipped: Record<string, number>
  failures: Record<string, number>
}

/** One thing that a message must pass, in the order in which it is asked. */
export interface Gate {
  gate: 'project' | 'audience' | 'user' | 'segment' | 'device' | 'rules' | 'delivery'
  passed: boolean
  /** A word for programs; null where it was passed. */
  reason: string | null
  message: string
}

/** Why a user got the message of a trigger, or why not. */
export interface Explanation {
  trigger_id: string
  project_user_id: string
  state: string
  gates: Gate[]
  devices: { device_id: string; message_id: string | null; state: string; gates: Gate[] }[]
}
