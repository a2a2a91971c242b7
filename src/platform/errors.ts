/**
 * Every error code that a caller can get, with its HTTP status. docs/reference/errors.md is printed from here.
 * Codes are part of the interface: rename none.
 */
export const errorCatalogue = {
  missing_project_id: [401, 'The header X-Service-Project-ID is absent or empty.'],
  missing_api_key: [401, 'The header X-Service-API-Key (for agents: X-API-Key) is absent or empty.'],
  invalid_api_key: [
    401,
    'The key is unknown, revoked, expired, of another project or of the wrong kind, or the project is unknown.'
  ],
  missing_user_token: [
    401,
    'The project verifies the identity of users, and the header X-Service-User-Token is absent or empty.'
  ],
  invalid_user_token: [
    401,
    'X-Service-User-Token is not a valid token: signature, algorithm, sub or exp; the detail names which.'
  ],
  user_token_mismatch: [403, 'X-Service-User-Token belongs to another user than the call.'],
  missing_token: [401, 'The header Authorization carries no bearer token.'],
  invalid_token: [401, 'The management token is unknown or revoked.'],
  invalid_sign_in: [401, 'Email and password do not match those of a member.'],
  secret_key_required: [403, 'A public key was sent where only a secret one is taken.'],
  forbidden: [403, 'The token is valid but its role or its project does not allow this.'],
  policy_refused: [
    403,
    'The policy of the key does not allow this: the skill, the hour, or the number of recipients; the details name the rule.'
  ],
  approval_required: [
    403,
    'The policy of the key wants a person to approve this. Ask for it as an agent (A2A or MCP), which makes an approval.'
  ],
  confirmation_required: [
    403,
    'The policy of the key wants broadcasts to be confirmed: preview it, and send the confirmation_id of the preview with the same request. Or the confirmation no longer holds.'
  ],
  dry_run_only: [403, 'The policy of the key allows reading and previews only. Nothing was done.'],
  intake_off: [403, 'The project takes no messages of analytics SDKs until its setting intake is on.'],
  not_found: [404, 'Nothing of that name is in this project.'],
  device_not_found: [404, 'No device of this id is registered in this project.'],
  method_not_allowed: [405, 'The path exists, the method does not; the header Allow lists those that do.'],
  not_acceptable: [
    406,
    'The header Accept of an MCP client must name application/json and text/event-stream. The response names no code: its body is an error of JSON-RPC, -32000.'
  ],
  message_not_found: [404, 'No message of this id is in this project; it may be older than its messages are kept.'],
  idempotency_key_in_use: [
    409,
    'The first call with this idempotency key still runs; the header Retry-After says when to ask again.'
  ],
  idempotency_key_reused: [409, 'The idempotency key was used with another body.'],
  conflict: [409, 'It exists already, or changed since it was read.'],
  channel_refused: [
    409,
    'Apple did not create the broadcast channel; the sentence has the reason, as in delivery results. Nothing was created.'
  ],
  project_is_live: [409, 'The project is live: it sends to the real gateways and has no simulator.'],
  body_too_large: [413, 'The body is larger than the endpoint takes: 10 MiB at most, 4 or 64 KiB where it is a form.'],
  unsupported_media_type: [
    415,
    "The content type is not application/json, or not what this endpoint takes. The contract's endpoints also read JSON without a type, as text/plain and as a form."
  ],
  rate_limited: [429, 'The rate limit of the project is used up; the header Retry-After says how long to wait.'],
  too_many_streams: [429, 'The project has as many streams of agents open on this node as it may; close some.'],
  malformed_body: [
    400,
    'The body is not JSON, not an object, not UTF-8, or holds text that cannot be stored. Or a field of it is missing or wrong, and no other code is about that field; the details name it.'
  ],
  malformed_request: [400, 'The request is not valid HTTP, or its query cannot be read.'],
  invalid_project_user_id: [400, 'project_user_id is missing or breaks a rule for ids.'],
  invalid_device_id: [400, 'The id of a device is missing or breaks a rule for ids.'],
  invalid_device: [400, 'A field of a device has a wrong type or value; the details name it.'],
  invalid_event: [400, 'A field of an event has a wrong type or value; the details name it.'],
  invalid_push_notification: [400, 'A field of a push notification is missing or wrong; the detail names it.'],
  invalid_live_activity: [400, 'A field of a Live Activity is missing or wrong; the detail names it.'],
  invalid_idempotency_key: [400, 'An idempotency key is 1 to 255 characters.'],
  invalid_properties: [400, 'A property name or value is not allowed.'],
  properties_too_large: [400, 'The user would have more than 1,000 properties or more than 64 KiB of them.'],
  invalid_credential: [400, 'A credential of a push gateway is not one; the details name what is wrong with it.'],
  invalid_campaign: [400, 'A field of a campaign has a wrong type or value; the details name each.'],
  invalid_segment: [400, 'The segment breaks a rule of the segment language; the details name the place.'],
  invalid_template: [400, 'A template cannot be parsed; the details name the line and the column.'],
  invalid_parameter: [400, 'A field or parameter has a wrong type or value; the details name it.'],
  invalid_campaign_id: [400, 'The id of a campaign is missing or breaks a rule for ids.'],
  invalid_trigger: [
    400,
    'The audience or the properties of a trigger have a wrong type or value; the details name it.'
  ],
  campaign_not_found: [400, 'A trigger names a campaign that this project does not have.'],
  campaign_cannot_run: [400, 'An active campaign needs all that its type runs by, such as a schedule or an event.'],
  campaign_not_active: [400, 'Only an active campaign can be triggered; this one is a draft, paused or archived.'],
  campaign_not_api_triggered: [400, 'Only a campaign of the type api_triggered can be triggered by a call.'],
  internal_error: [500, 'A fault of the service. It is logged under the X-Request-ID of the answer.'],
  overloaded: [
    503,
    'The service has more to do than it can, and this project more than its share of it; nothing was done. Come back after Retry-After, with fewer requests at once.'
  ],
  unavailable: [503, 'The database is away or busy; the header Retry-After says when to try again.']
} as const satisfies Record<string, readonly [status: number, meaning: string]>

export type RefusalCode = keyof typeof errorCatalogue

export interface Detail {
  path: string
  message: string
}

/** Thrown for a request that the service refuses. Any other error that reaches the edge is a bug and becomes a 500. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: RefusalCode
  readonly details: readonly Detail[]

  constructor(code: RefusalCode, message: string, details: readonly Detail[] = [], options?: ErrorOptions) {
    // A refusal is a normal response and needs no stack trace: without one it is as cheap as a success.
    const depth = Error.stackTraceLimit
    Error.stackTraceLimit = 0
    super(message, options)
    Error.stackTraceLimit = depth
    this.code = code
    this.details = details
  }
}

/**
 * The database or another dependency cannot be reached now. The same request may succeed later: the edge responds 503
 * with Retry-After, or 429 if other requests of the caller's own project stand in the way.
 */
export class Unavailable extends Error {
  override readonly name = 'Unavailable'
  readonly code: 'unavailable' | 'rate_limited' = 'unavailable'
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
