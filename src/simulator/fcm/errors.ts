import type { Answer } from '../server/gateway.ts'

/** Codes of Firebase, with the HTTP status and the status of Google. */
const codes: Record<string, readonly [http: number, status: string, message: string]> = {
  INVALID_ARGUMENT: [400, 'INVALID_ARGUMENT', 'Request contains an invalid argument.'],
  UNREGISTERED: [404, 'NOT_FOUND', 'Requested entity was not found.'],
  SENDER_ID_MISMATCH: [403, 'PERMISSION_DENIED', 'SenderId mismatch'],
  THIRD_PARTY_AUTH_ERROR: [401, 'UNAUTHENTICATED', 'Auth error from APNS or Web Push Service'],
  QUOTA_EXCEEDED: [429, 'RESOURCE_EXHAUSTED', 'Quota exceeded for quota metric.'],
  INTERNAL: [500, 'INTERNAL', 'Internal error encountered.'],
  UNAVAILABLE: [503, 'UNAVAILABLE', 'The service is currently unavailable.']
}

const byStatus: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'THIRD_PARTY_AUTH_ERROR',
  403: 'SENDER_ID_MISMATCH',
  404: 'UNREGISTERED',
  410: 'UNREGISTERED',
  429: 'QUOTA_EXCEEDED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE'
}

export interface Violation {
  field: string
  description: string
}

interface ErrorParts {
  status: number
  code: string
  message: string
  details?: unknown[]
  headers?: Record<string, string>
  reason?: string
}

function errorResponse({ status, code, message, details = [], headers, reason = code }: ErrorParts): Answer {
  const error = { code: status, message, status: code, ...(details.length > 0 && { details }) }
  return {
    status,
    ...(headers && { headers }),
    body: JSON.stringify({ error }),
    reason,
    detail: message,
    gatewayMessageId: null
  }
}

const fcmError = (errorCode: string) => ({ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode })

/** A refusal with a code of Firebase. */
export function refuseFcm(errorCode: string, retryAfterSeconds?: number): Answer {
  const [status, code, message] = codes[errorCode] ?? [500, 'INTERNAL', 'Internal error encountered.']
  const headers = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
  return errorResponse({ status, code, message, details: [fcmError(errorCode)], headers, reason: errorCode })
}

/** The code of a status, unless another one is named. */
export const codeFor = (status: number, named: string | undefined) =>
  named !== undefined && Object.hasOwn(codes, named) ? named : (byStatus[status] ?? 'INTERNAL')

/** Faults of the message have FcmError; faults that the JSON reader finds have the field only. */
export function refuseArgument(violation: Violation, message = violation.description, named = true): Answer {
  const badRequest = { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [violation] }
  const details = named ? [fcmError('INVALID_ARGUMENT'), badRequest] : [badRequest]
  return errorResponse({ status: 400, code: 'INVALID_ARGUMENT', message, details })
}

export const badToken = (): Answer =>
  refuseArgument(
    { field: 'message.token', description: 'Invalid registration token' },
    'The registration token is not a valid FCM registration token'
  )

export const unauthenticated = (): Answer =>
  errorResponse({
    status: 401,
    code: 'UNAUTHENTICATED',
    message:
      'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.',
    headers: { 'www-authenticate': 'Bearer realm="https://accounts.google.com/", error="invalid_token"' }
  })

export const permissionDenied = (project: string): Answer =>
  errorResponse({
    status: 403,
    code: 'PERMISSION_DENIED',
    message: `Permission 'cloudmessaging.messages.create' denied on resource '//cloudresourcemanager.googleapis.com/projects/${project}'.`
  })

export const notFound = (path: string): Answer =>
  errorResponse({ status: 404, code: 'NOT_FOUND', message: `The requested URL ${path} was not found on this server.` })

export const methodNotAllowed = (): Answer =>
  errorResponse({ status: 405, code: 'METHOD_NOT_ALLOWED', message: 'The method is POST.', headers: { allow: 'POST' } })
