import { ApiError } from '../../../api/errors.ts'

export const stepNames = ['audience', 'message', 'timing', 'review'] as const
export type StepName = (typeof stepNames)[number]
export const stepLabels: Record<StepName, string> = {
  audience: 'Audience',
  message: 'Message',
  timing: 'Timing',
  review: 'Review'
}

/** The step in which each field of a campaign is edited. Name and ID stand above all steps. */
const stepOfField: Record<string, StepName> = {
  segment: 'audience',
  default_audience: 'audience',
  topic: 'audience',
  transactional: 'audience',
  holdout: 'audience',
  message: 'message',
  variants: 'message',
  steps: 'message',
  exit: 'message',
  live_activity: 'message',
  winner: 'message',
  on_missing: 'message',
  type: 'timing',
  schedule: 'timing',
  event_trigger: 'timing',
  ttl_seconds: 'timing',
  throttle_per_second: 'timing',
  frequency_cap: 'timing',
  quiet_hours: 'timing',
  conversion: 'timing'
}

export interface Fault {
  path: string
  message: string
  /** Undefined: the field is above the steps. */
  step: StepName | undefined
}

export const stepOf = (path: string): StepName | undefined => stepOfField[/^\w+/.exec(path)?.[0] ?? '']

const isField = (path: string) => stepOf(path) !== undefined || ['name', 'campaign_id', 'status'].includes(path)

/** The faults of fields in errors of the service, each once. Errors about the request of a preview are not among them. */
export function faultsIn(errors: (Error | null | undefined)[]): Fault[] {
  const found = new Map<string, Fault>()
  for (const error of errors)
    for (const { path, message } of error instanceof ApiError ? error.fields : [])
      if (isField(path)) found.set(`${path} ${message}`, { path, message, step: stepOf(path) })
  return [...found.values()]
}

/** An outage, after which the same request may succeed. */
export const isOutage = (error: Error | null | undefined): boolean =>
  error instanceof ApiError && (error.status === 0 || (error.status >= 502 && error.status <= 504))

export const isConflict = (error: Error | null | undefined): boolean =>
  error instanceof ApiError && error.status === 409
