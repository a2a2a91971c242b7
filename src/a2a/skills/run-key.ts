import { hash } from 'node:crypto'
import type { IdempotencyKey } from '../../platform/idempotency/idempotency.ts'

/** The key under which a run sends. A run that another node repeats after a crash has the same key, so it sends once. */
export const keyOfRun = (runId: string, command: object): IdempotencyKey => ({
  scope: 'task',
  key: runId,
  fingerprint: hash('sha256', JSON.stringify(command), 'hex')
})
