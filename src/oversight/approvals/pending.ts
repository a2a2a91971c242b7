import type { Db } from '../../platform/db/db.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { pendingApprovals } from './store.ts'

/** Figures about approvals that wait for a person: an alert finds those that no person looks at. */
export function countPending(db: Db, metrics: Metrics): void {
  metrics.gauge(
    'tidings_approvals_pending',
    'Actions of agents that wait for a person.',
    async () => (await pendingApprovals(db)).pending,
    { of: 'all' }
  )
  metrics.gauge(
    'tidings_approvals_oldest_pending_seconds',
    'How long the oldest of them has waited.',
    async () => (await pendingApprovals(db)).oldestSeconds,
    { of: 'all' }
  )
}
