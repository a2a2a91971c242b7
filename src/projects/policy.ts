/** A daily span on the clock of a time zone. `to` is on the next day where it is before `from`. */
export interface PolicyHours {
  from: string
  to: string
  /** The IANA name of a time zone. */
  timezone: string
}

/** What the holder of a secret key may do. A field of null sets no limit. */
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
  /** Nothing that changes or sends is done. */
  dry_run: boolean
  /** Nothing is sent in these hours. */
  quiet_hours: PolicyHours | null
}

/** What a policy lets one action reach. Plain data, because an action may be stored and run later. */
export interface Permit {
  /** The first key of its chain of rotations: limits count over the chain. */
  keyId: string
  /** Distinct users that the action reaches as far as was counted. */
  recipients: number
  /** Distinct users that it may reach at most, where its audience grows meanwhile. */
  most: number
  /** Recipients of the key within any 24 hours; null: no limit. */
  perDay: number | null
}
