import { hash } from 'node:crypto'
import type { IdempotencyKey } from '../../platform/idempotency/idempotency.ts'
import type { EffectKey } from './skill.ts'

/** The key of a run's effect. A run that another node repeats after a crash has the same key, so it sends once. */
export const effectKeyOf = ({ runId }: { runId: string }): EffectKey => ({ scope: 'task', key: runId })

export const keyOfRun = (runId: string, command: object): IdempotencyKey => ({
  ...effectKeyOf({ runId }),
  fingerprint: hash('sha256', JSON.stringify(command), 'hex')
})
