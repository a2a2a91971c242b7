/** The reasons of Apple's table that pushes can get here, with their status. */
export const apnsReasons = {
  BadCollapseId: 400,
  BadDeviceToken: 400,
  BadExpirationDate: 400,
  BadMessageId: 400,
  BadPriority: 400,
  BadRequestPayload: 400,
  BadTopic: 400,
  DeviceTokenNotForTopic: 400,
  DuplicateHeaders: 400,
  IdleTimeout: 400,
  InvalidPushType: 400,
  MissingDeviceToken: 400,
  MissingTopic: 400,
  PayloadEmpty: 400,
  TopicDisallowed: 400,
  BadCertificate: 403,
  BadCertificateEnvironment: 403,
  BadEnvironmentKeyIdInToken: 403,
  ExpiredProviderToken: 403,
  Forbidden: 403,
  InvalidProviderToken: 403,
  MissingProviderToken: 403,
  UnrelatedKeyIdInToken: 403,
  BadPath: 404,
  MethodNotAllowed: 405,
  ExpiredToken: 410,
  Unregistered: 410,
  PayloadTooLarge: 413,
  TooManyProviderTokenUpdates: 429,
  TooManyRequests: 429,
  InternalServerError: 500,
  ServiceUnavailable: 503,
  Shutdown: 503
} as const

/** Reasons for channels and broadcasts. */
const channelReasons = {
  BadChannelId: 400,
  BadRequestParams: 400,
  CannotCreateChannelConfig: 400,
  ChannelNotRegistered: 400,
  MissingChannelId: 400,
  MissingPushType: 400
} as const

export type ApnsReason = keyof typeof apnsReasons | keyof typeof channelReasons

const statuses: Record<string, number> = { ...apnsReasons, ...channelReasons }

export interface ApnsRefusal {
  /** A fault may name a reason outside the table: Apple adds some, and senders must cope with them. */
  reason: ApnsReason | (string & {})
  status?: number
  detail?: string
  timestamp?: number
}

export const statusOf = (reason: string): number => statuses[reason] ?? 400
