import pino from 'pino'

/** For tests that do not look at logs. */
export const silentLog = pino({ level: 'silent' })
