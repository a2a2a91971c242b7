/**
 * The reasons of a push that was not delivered, the same for every gateway. Codes are part of the interface: new ones
 * may be added, none renamed. docs/guides/sending.md says what to do about each.
 */
export const failureReasons = {
  USER_NOT_FOUND: 'No user of this id is in the project.',
  NO_DEVICE: 'The user has no device, or no device of this id is registered.',
  NO_PUSH_TOKEN: 'No device has a usable push token: notifications are turned off, or the token is no longer valid.',
  NO_LIVE_ACTIVITY_TOKEN: 'The app has not registered a Live Activity token for this yet.',
  UNSUPPORTED_PLATFORM: 'The device cannot take it: Live Activities are for iOS, and browsers take no silent push.',
  TOKEN_INVALID: 'The gateway does not know this token.',
  TOKEN_UNREGISTERED: 'The app was removed from the device, or its token has changed.',
  TOKEN_MISMATCH: 'The token belongs to another app or sender than the credential.',
  CREDENTIALS_MISSING: 'The project has no credential for this gateway.',
  CREDENTIALS_INVALID: 'The gateway refuses the credential of the project.',
  PAYLOAD_TOO_LARGE: 'The notification is larger than the gateway allows.',
  PAYLOAD_INVALID: 'The gateway refuses the content of the notification.',
  DEVICE_RATE_LIMITED: 'The gateway got too many notifications for this device.',
  PROJECT_RATE_LIMITED: 'The gateway got too many notifications from this project.',
  GATEWAY_UNAVAILABLE: 'The gateway cannot take notifications at the moment.',
  GATEWAY_TIMEOUT: 'The gateway did not answer in time; the notification may have arrived.',
  CONNECTION_LOST: 'The connection to the gateway broke; the notification may have arrived.',
  CHANNEL_NOT_FOUND: 'The gateway does not know the channel: it was deleted there, or is of the other environment.',
  CHANNEL_LIMIT: 'The app has as many channels as the gateway allows (Apple: 10,000); delete some.',
  CHANNEL_MISMATCH: 'The device has another app or environment than the channel.',
  SUPERSEDED: 'A newer change of the channel took its place before it was handed over.',
  EXPIRED: 'Its time to live was over before it could be handed over.',
  SUPPRESSED: 'A rule of the project or campaign held it back.',
  OPTED_OUT: 'The user opted out before it was handed over.',
  TOPIC_OPTED_OUT: 'The user turned its topic off before it was handed over.',
  EXITED: 'The user left the campaign by its exit event before it was handed over.',
  QUIET_HOURS: 'Quiet hours had begun before it was handed over.',
  CANCELED: 'It was canceled, or its user was deleted, before it was handed over.',
  INTERNAL_ERROR: 'A fault of the service.'
} as const satisfies Record<string, string>

export type FailureCode = keyof typeof failureReasons

/** The text of `failure_reason`: the code in brackets, then a sentence. */
export const failureReason = (code: FailureCode, message: string = failureReasons[code]): string =>
  `[${code}] ${message}`
