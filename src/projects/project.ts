import type { Config } from '../platform/config/config.ts'
import { Refusal } from '../platform/errors.ts'
import type { ProjectId } from '../platform/ids.ts'

export type Mode = 'simulator' | 'live'

/** Requests per second; 0 means no limit. */
export interface Limits {
  requests_per_second: number
  client_requests_per_second: number
  triggers_per_second: number
}

export interface Retention {
  events_days: number
  messages_days: number
}

/** A limit over all campaigns: so many messages to one user within a duration such as 24h; of one topic, or of all. */
export interface MessageLimit {
  count: number
  within: string
  topic?: string
}

/** Quiet hours over all campaigns, with the fields of a campaign's own. */
export interface ProjectHours {
  from: string
  to: string
  timezone: string
  action: 'skip' | 'hold'
}

export interface Project {
  id: ProjectId
  name: string
  mode: Mode
  plan: string
  limits: Limits
  retention: Retention
  createdAt: Date
  /** While it is set, nothing is dispatched to a gateway. */
  pausedAt: Date | null
  messageLimits: readonly MessageLimit[]
  quietHours: ProjectHours | null
  /** Whether apps must prove who their user is. */
  identityVerification: boolean
  /** Whether it takes what analytics SDKs send. */
  intake: boolean
}

export interface ProjectRow {
  project_id: ProjectId
  name: string
  mode: Mode
  plan: string
  limits: Partial<Limits>
  retention: Partial<Retention>
  created_at: Date
  paused_at: Date | null
  message_limits: MessageLimit[] | null
  quiet_hours: ProjectHours | null
  identity_verification: boolean | null
  intake: boolean | null
}

const defaultLimits = { requests_per_second: 1_000, client_requests_per_second: 5_000 }
const defaultRetention: Retention = { events_days: 365, messages_days: 90 }

export const retentionOf = (row: Pick<ProjectRow, 'retention'>): Retention => ({
  ...defaultRetention,
  ...row.retention
})

/** A row holds only the values that the project overrides; its plan and the defaults give the rest. */
export const toProject =
  (plans: Config['PLANS']) =>
  (row: ProjectRow): Project => ({
    id: row.project_id,
    name: row.name,
    mode: row.mode,
    plan: row.plan,
    limits: { ...defaultLimits, triggers_per_second: plans[row.plan] ?? plans.standard!, ...row.limits },
    retention: retentionOf(row),
    createdAt: row.created_at,
    pausedAt: row.paused_at,
    messageLimits: row.message_limits ?? [],
    quietHours: row.quiet_hours,
    identityVerification: row.identity_verification ?? false,
    intake: row.intake ?? false
  })

export const isProjectId = (text: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(text)

/** For callers that may see every project. A text that cannot be an id is not repeated: it could have any length. */
export const noSuchProject = (id: string): Refusal =>
  new Refusal(
    'not_found',
    `There is no project ${isProjectId(id) ? id : 'of this id'}. GET /manage/v1/projects (tidings project list) lists them.`
  )
