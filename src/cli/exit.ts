import { type Detail, OperatorError } from '../platform/errors.ts'

/** Exit codes. Scripts rely on these numbers: change none. docs/reference/cli.md lists them. */
export const exit = {
  ok: 0,
  /** The command failed, or succeeded only in part. */
  failure: 1,
  /** The command line cannot be understood. */
  usage: 2,
  notFound: 3,
  /** The token is missing, unknown, or not allowed to do this. */
  denied: 4,
  /** The service does not respond, or is not available now. */
  unavailable: 5,
  configuration: 78,
  interrupted: 130
} as const

export type ExitCode = (typeof exit)[keyof typeof exit]

/** The reason why a command failed: a message for people, a code for programs. */
export class Failure extends OperatorError {
  readonly code: string
  readonly details: readonly Detail[]

  constructor(
    exitCode: ExitCode,
    code: string,
    message: string,
    options: ErrorOptions & { details?: readonly Detail[] } = {}
  ) {
    super(message, exitCode, options)
    this.code = code
    this.details = options.details ?? []
  }
}

export const usageFailure = (message: string) => new Failure(exit.usage, 'usage', message)

/** Ends a command with an exit code after it has printed everything. */
export class Ended extends Error {
  override readonly name = 'Ended'
  readonly exitCode: number

  constructor(exitCode: number) {
    super(`exit ${exitCode}`)
    this.exitCode = exitCode
  }
}
