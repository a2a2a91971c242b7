/** A daily span on the clock of a time zone. `to` is on the next day if it is before `from`. */
export interface PolicyHours {
  from: string
  to: string
  /** The IANA name of a time zone. */
  timezone: string
}

/** The rights of the holder of a secret key. A null field sets no limit. */
export interface Policy {
  /** The skills that are allowed, on every surface. */
  skills: string[] | null
  /** Distinct users that one action may reach. */
  max_recipients: number | null
  /** Recipients of all actions within any 24 hours. */
  max_recipients_per_day: number | null
  /** An action that reaches more users than this waits for a person. */
  approval_above: number | null
  /** A broadcast needs the confirmation id of a preview. */
  confirm_broadcasts: boolean
  /** Refuses every action that changes or sends. */
  dry_run: boolean
  /** Nothing is sent in these hours. */
  quiet_hours: PolicyHours | null
}

/** The limits that a policy sets for one action. Plain data, because an action may be stored and run later. */
export interface Permit {
  /** The first key of its chain of rotations: limits count over the chain. */
  keyId: string
  /** Distinct users that the action reaches, as far as they were counted. */
  recipients: number
  /** The most distinct users that it may reach, if its audience grows meanwhile. */
  most: number
  /** Recipients of the key within any 24 hours; null: no limit. */
  perDay: number | null
}

/** A number with its noun, as sentences about limits name it: 1 user, 2 users. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
