import pino, { type Logger } from 'pino'
import { activeSpan } from './telemetry/context.ts'

export type Log = Logger

/**
 * Logs go to stderr: stdout is for output that people read and paste. The code never passes keys, tokens or personal
 * data to the log; the redaction is a second safeguard.
 */
export async function createLog(level: string, terminal: boolean = process.stderr.isTTY === true): Promise<Log> {
  const options = logOptions(level)
  if (!terminal) return pino(options, new Lines(pino.destination({ dest: 2, sync: true })))
  const { default: pretty } = await import('pino-pretty')
  const ignore = 'pid,hostname,trace_id,span_id'
  return pino(options, new Lines(pretty({ destination: 2, sync: true, ignore, translateTime: 'SYS:HH:MM:ss' })))
}

/** The lines of a log: written to stderr, and passed to those who want them too. */
class Lines {
  readonly #out: { write(line: string): unknown; flushSync?(): void }
  readonly listeners = new Set<(line: string) => void>()

  constructor(out: { write(line: string): unknown; flushSync?(): void }) {
    this.#out = out
  }

  write(line: string): void {
    this.#out.write(line)
    for (const listener of this.listeners) listener(line)
  }

  flushSync(): void {
    this.#out.flushSync?.()
  }
}

/** Passes each further line of a log and of its children to a listener. Returns the end of that. */
export function onLine(log: Log, listener: (line: string) => void): () => void {
  const stream = (log as unknown as Record<symbol, unknown>)[pino.symbols.streamSym]
  if (!(stream instanceof Lines)) return () => {}
  stream.listeners.add(listener)
  return () => void stream.listeners.delete(listener)
}

/** The trace of the request or job that logs. */
function traceFields(): object {
  const span = activeSpan()
  return span ? { trace_id: span.traceId, span_id: span.spanId } : {}
}

export const logOptions = (level: string) => ({
  level,
  base: null,
  timestamp: pino.stdTimeFunctions.isoTime,
  mixin: traceFields,
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
