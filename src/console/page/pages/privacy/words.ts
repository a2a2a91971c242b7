import type { Erasure } from '../../../../wire.ts'
import { plural } from '../../parts/texts.tsx'

const names: Record<string, string> = {
  a2a_tasks: 'Tasks of agents',
  approvals: 'Approvals',
  audit_log: 'Audit log',
  campaign_versions: 'Campaigns',
  confirmations: 'Questions to callers',
  consents: 'Consents',
  conversions: 'Conversions',
  devices: 'Devices',
  events: 'Events',
  idempotency_keys: 'Stored responses',
  indexed_values: 'Indexed properties',
  journeys: 'Journeys',
  live_activity_changes: 'Changes of Live Activity channels',
  live_activity_channels: 'Live Activity channels',
  live_activity_tokens: 'Tokens of Live Activities',
  messages: 'Messages',
  push_tokens: 'Push tokens',
  saved_segments: 'Segments',
  simulator_activities: 'Simulated activities',
  simulator_inbox: 'Simulated pushes',
  simulator_phones: 'Simulated phones',
  simulator_subscriptions: 'Simulated subscriptions',
  trigger_skips: 'Skips',
  triggers: 'Audiences of triggers',
  users: 'User',
  webhook_calls: 'Webhook deliveries',
  webhook_events: 'Waiting webhook events'
}

/** A table of the database, as people call what it holds. */
export const nameOfTable = (table: string): string => names[table] ?? table

/** `12 rows in 3 tables`. */
export function erasedInWords({ erased }: Pick<Erasure, 'erased'>): string {
  const filled = Object.values(erased).filter((rows) => rows > 0)
  const sum = filled.reduce((all, rows) => all + rows, 0)
  return sum === 0 ? 'Nothing was left' : `${plural(sum, 'row')} in ${plural(filled.length, 'table')}`
}

/** The latest time at which something that remains ends; null: until people change it; undefined: nothing remains. */
export function remainsUntil({ remaining }: Pick<Erasure, 'remaining'>): string | null | undefined {
  const ends = remaining.map(({ until }) => until)
  if (ends.length === 0 || ends.includes(null)) return ends.length === 0 ? undefined : null
  return (ends as string[]).sort().at(-1)
}
