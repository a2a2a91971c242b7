import pino from 'pino'

/** For tests that do not read logs. */
export const silentLog = pino({ level: 'silent' })
