import pino, { type Logger } from 'pino'

export type Log = Logger

/**
 * Logs go to stderr: stdout is for output that people read and paste. The code never passes keys, tokens or personal
 * data to the log; the redaction is a second safeguard.
 */
export async function createLog(level: string, terminal: boolean = process.stderr.isTTY === true): Promise<Log> {
  const options = logOptions(level)
  if (!terminal) return pino(options, pino.destination({ dest: 2, sync: true }))
  const { default: pretty } = await import('pino-pretty')
  return pino(options, pretty({ destination: 2, sync: true, ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss' }))
}

export const logOptions = (level: string) => ({
  level,
  base: null,
  timestamp: pino.stdTimeFunctions.isoTime,
  serializers: { error: writtenError },
  redact: ['*.key', '*.token', '*.secret', '*.authorization', '*.password', 'req.headers']
})

/**
 * The known fields of an error, without its details: the details of a constraint contain values. Some errors log their
 * message only.
 */
function writtenError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, stack, cause } = error
  const code = (error as NodeJS.ErrnoException).code
  return {
    name,
    message,
    ...(code !== undefined && { code }),
    stack,
    ...(cause !== undefined && { cause: writtenError(cause) })
  }
}
