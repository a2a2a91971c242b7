/**
 * Every code a caller can meet, with the HTTP status it travels under. docs/errors.md is printed from here.
 * Codes are part of the interface: rename none.
 */
export const errorCatalogue = {
  missing_project_id: [401, 'The header X-Service-Project-ID is absent or empty.'],
  missing_api_key: [401, 'The header X-Service-API-Key (for agents: X-API-Key) is absent or empty.'],
  invalid_api_key: [
    401,
    'The key is unknown, revoked, of another project or of the wrong kind, or the project is unknown.'
  ],
  missing_token: [401, 'The header Authorization carries no bearer token.'],
  invalid_token: [401, 'The management token is unknown or revoked.'],
  secret_key_required: [403, 'A public key was sent where only a secret one is taken.'],
  forbidden: [403, 'The token is valid but its role or its project does not allow this.'],
  not_found: [404, 'Nothing of that name is in this project.'],
  device_not_found: [404, 'No device of this id is registered in this project.'],
  method_not_allowed: [405, 'The path exists, the method does not; the header Allow lists those that do.'],
  conflict: [409, 'It exists already, or changed since it was read.'],
  body_too_large: [413, 'The body is larger than 10 MiB.'],
  unsupported_media_type: [415, 'The body is not application/json (or not what this endpoint takes).'],
  rate_limited: [429, 'The rate limit of the project is used up; the header Retry-After says how long to wait.'],
  malformed_body: [400, 'The body is not JSON, not an object, not UTF-8, or holds text that cannot be stored.'],
  malformed_request: [400, 'The request is not valid HTTP, or its query cannot be read.'],
  invalid_project_user_id: [400, 'project_user_id is missing or breaks a rule for ids.'],
  invalid_device_id: [400, 'The id of a device is missing or breaks a rule for ids.'],
  invalid_device: [400, 'A field of a device has a wrong type or value; the details name it.'],
  invalid_event: [400, 'A field of an event has a wrong type or value; the details name it.'],
  invalid_properties: [400, 'A property name or value is not allowed.'],
  properties_too_large: [400, 'The user would have more than 1,000 properties or more than 64 KiB of them.'],
  invalid_parameter: [400, 'A field or parameter has a wrong type or value; the details name it.'],
  internal_error: [500, 'A fault of the service. It is logged under the X-Request-ID of the answer.'],
  unavailable: [503, 'The database is away or busy; the header Retry-After says when to try again.']
} as const satisfies Record<string, readonly [status: number, meaning: string]>

export type RefusalCode = keyof typeof errorCatalogue

export interface Detail {
  path: string
  message: string
}

/** Thrown for a request we refuse. Anything else that reaches an edge is a bug and becomes a 500. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: RefusalCode
  readonly details: readonly Detail[]

  constructor(code: RefusalCode, message: string, details: readonly Detail[] = [], options?: ErrorOptions) {
    // A refusal is an answer, and nobody reads its stack: not walking it makes refusing as cheap as doing.
    const depth = Error.stackTraceLimit
    Error.stackTraceLimit = 0
    super(message, options)
    Error.stackTraceLimit = depth
    this.code = code
    this.details = details
  }
}

/** Something we lean on is away for now. The same request may succeed later, so the edge answers 503 with Retry-After. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable'
}

/** A reason not to start, or to stop, that an operator can act on. Printed without a stack. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
  readonly exitCode: number

  constructor(message: string, exitCode = 1, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}
