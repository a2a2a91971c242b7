import { type Detail, OperatorError } from '../platform/errors.ts'

/** What the process ends with. Scripts rely on these numbers: change none. docs/reference/cli.md lists them. */
export const exit = {
  ok: 0,
  /** It was tried and did not work, or only in part. */
  failure: 1,
  /** The command line cannot be understood. */
  usage: 2,
  notFound: 3,
  /** The token is missing, unknown, or not allowed to do this. */
  denied: 4,
  /** Nothing answers, or not now. */
  unavailable: 5,
  configuration: 78,
  interrupted: 130
} as const

export type ExitCode = (typeof exit)[keyof typeof exit]

/** Why a command did not do what it was asked: for people by its message, for programs by its code. */
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

/** A command that did its work and has bad news ends by throwing this; what there is to say has been said. */
export class Ended extends Error {
  override readonly name = 'Ended'
  readonly exitCode: number

  constructor(exitCode: number) {
    super(`exit ${exitCode}`)
    this.exitCode = exitCode
  }
}
