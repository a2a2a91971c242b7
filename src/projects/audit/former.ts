import type { Project } from '../project.ts'
import type { ProjectChanges } from '../store.ts'

/** The former values of the fields that a change of a project names, for the audit log. */
export function formerOf(
  { name, mode, plan, limits, retention, messageLimits, quietHours, identityVerification, intake }: Project,
  changes: ProjectChanges
): Record<string, unknown> {
  const former: Record<string, unknown> = {
    ...{ name, mode, plan, message_limits: messageLimits, quiet_hours: quietHours },
    ...{ identity_verification: identityVerification, intake }
  }
  for (const group of ['limits', 'retention'] as const) {
    const values: Record<string, unknown> = { ...(group === 'limits' ? limits : retention) }
    former[group] = Object.fromEntries(Object.keys(changes[group] ?? {}).map((field) => [field, values[field] ?? null]))
  }
  return Object.fromEntries(Object.keys(changes).map((field) => [field, former[field] ?? null]))
}
