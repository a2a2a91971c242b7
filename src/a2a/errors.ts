/** The faults of a call, with the code of JSON-RPC or A2A and the reason in ErrorInfo. */
const faults = {
  parse_error: [-32700, 'PARSE_ERROR'],
  invalid_request: [-32600, 'INVALID_REQUEST'],
  method_not_found: [-32601, 'METHOD_NOT_FOUND'],
  invalid_params: [-32602, 'INVALID_PARAMS'],
  key_in_use: [-32603, 'IDEMPOTENCY_CONFLICT'],
  // The key belongs to another message. Unlike the error above, this one does not end by waiting.
  key_used: [-32603, 'IDEMPOTENCY_CONFLICT'],
  task_not_found: [-32001, 'TASK_NOT_FOUND'],
  task_not_cancelable: [-32002, 'TASK_NOT_CANCELABLE'],
  unsupported_operation: [-32004, 'UNSUPPORTED_OPERATION'],
  content_type_not_supported: [-32005, 'CONTENT_TYPE_NOT_SUPPORTED'],
  // The code of the lower-case dialect; the official dialects use the same number for another error.
  skill_not_found: [-32007, 'SKILL_NOT_FOUND'],
  version_not_supported: [-32009, 'VERSION_NOT_SUPPORTED']
} as const satisfies Record<string, readonly [code: number, reason: string]>

export type Fault = keyof typeof faults

export const codeOf = (fault: Fault): number => faults[fault][0]
export const reasonOf = (fault: Fault): string => faults[fault][1]

/** Becomes a JSON-RPC error. `field` names the parameter at fault. */
export class AgentError extends Error {
  override readonly name = 'AgentError'
  readonly fault: Fault
  readonly field: string | undefined

  constructor(fault: Fault, message: string, field?: string) {
    const depth = Error.stackTraceLimit
    Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = depth
    this.fault = fault
    this.field = field
  }
}

export const invalid = (field: string, message: string) =>
  new AgentError('invalid_params', `${field}: ${message}`, field)
export const noTask = () => new AgentError('task_not_found', 'No task of this id is in this project.')
