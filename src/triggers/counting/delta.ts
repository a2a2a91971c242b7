import type { OutcomeChange } from '../../messages/messages.ts'

export const numbers = ['targeted', 'sent', 'failed', 'skipped', 'delivered', 'tapped'] as const
export type Numbers = Record<(typeof numbers)[number], number>

/** What a message says: its variant and its language, where the campaign has several. */
export type Said = Partial<Pick<OutcomeChange, 'variant' | 'language'>>

/** The share of a change that has the same variant and language. Results of campaigns are counted by these. */
export interface Part extends Numbers {
  variant: string
  language: string
  /** Users with a message, or in the holdout. */
  users: number
}

/** Amounts to add to the counters of a trigger. Pending has no counter: it is targeted minus all that ended. */
export interface Delta extends Numbers {
  id: string
  openBatches: number
  skippedFor: Record<string, number>
  failedFor: Record<string, number>
  /** Without devices of planned batches: their variant is known once the batch is written. */
  parts: Map<string, Part>
}

const zero = (): Numbers => ({ targeted: 0, sent: 0, failed: 0, skipped: 0, delivered: 0, tapped: 0 })

export const noChange = (id: string): Delta => ({
  id,
  ...zero(),
  openBatches: 0,
  skippedFor: {},
  failedFor: {},
  parts: new Map()
})

export const tally = (reasons: Record<string, number>, reason: string, by = 1): void => {
  reasons[reason] = (reasons[reason] ?? 0) + by
}

/** The share of a change with this variant and language. */
export function partOf({ parts }: Delta, { variant, language }: Said = {}): Part {
  const key = `${variant ?? ''} ${language ?? ''}`
  const known = parts.get(key)
  if (known) return known
  const part = { variant: variant ?? '', language: language ?? '', users: 0, ...zero() }
  parts.set(key, part)
  return part
}

/** Adds to a counter of the trigger and to the share of the messages that say this. */
export function addTo(delta: Delta, counter: keyof Numbers, said?: Said, by = 1): void {
  delta[counter] += by
  partOf(delta, said)[counter] += by
}

/** Counts devices that are skipped for a reason. Their trigger counts them as targeted already. */
export function skipPlanned(delta: Delta, reason: string, devices: number): void {
  if (devices === 0) return
  addTo(delta, 'skipped', undefined, devices)
  partOf(delta).targeted += devices
  tally(delta.skippedFor, reason, devices)
}
