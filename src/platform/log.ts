import pino, { type Logger } from 'pino'

export type Log = Logger

/**
 * Logs go to stderr: stdout is for what people are meant to read and paste.
 * Keys, tokens and personal data are never handed to it; the redaction is a second net, not the rule.
 */
export async function createLog(level: string, terminal: boolean = process.stderr.isTTY === true): Promise<Log> {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ['*.key', '*.token', '*.secret', '*.authorization', '*.password', 'req.headers']
  }
  if (!terminal) return pino(options, pino.destination({ dest: 2, sync: true }))
  const { default: pretty } = await import('pino-pretty')
  return pino(options, pretty({ destination: 2, sync: true, ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss' }))
}
