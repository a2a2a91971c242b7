/** Times and limits of the sender. They are constants of the product; tests shorten them. */
export interface SenderSettings {
  /** The time from `submit` to the outcome. Half of it may pass before the push is sent. */
  deadlineMs: number
  connectTimeoutMs: number
  /** How long pushes wait for a gateway that cannot be reached. */
  unreachableMs: number
  /** The most connections to one gateway with one credential. */
  maxConnections: number
  /** A connection on which everything fails is replaced, at the earliest this long after the last one was opened. */
  replaceMs: number
  /** The most sockets of the whole process. */
  maxSockets: number
  /** The most pools of a project to unlisted origins: far more than push services have real hosts. */
  maxOrigins: number
  /** Connections that are unused for this long are closed. */
  idleMs: number
  /** The pushes that may be in flight: at first, and at most. */
  firstWindow: number
  maxWindow: number
  /** The quota of Firebase for a project and second, shared by all processes; 0 means no quota. */
  fcmPerSecond: number
  /** The time over which the rate grows from a tenth of the quota to all of it, after a minute without pushes. */
  rampMs: number
  /** A refused credential is tried again this often. */
  probeMs: number
  /** A busy connection that is silent for this long gets a PING, and is closed if it does not respond. */
  pingAfterMs: number
  pingTimeoutMs: number
  /** The time after which a credential is looked up again. */
  credentialMs: number
  tickMs: number
}

export const defaultSettings: SenderSettings = {
  deadlineMs: 10_000,
  connectTimeoutMs: 5_000,
  unreachableMs: 3_000,
  maxConnections: 8,
  replaceMs: 10_000,
  maxSockets: 512,
  maxOrigins: 64,
  idleMs: 600_000,
  firstWindow: 32,
  maxWindow: 2_000,
  fcmPerSecond: 9_500,
  rampMs: 60_000,
  probeMs: 30_000,
  pingAfterMs: 2_000,
  pingTimeoutMs: 5_000,
  credentialMs: 1_000,
  tickMs: 100
}
