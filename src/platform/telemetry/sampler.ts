/** Decides whether a trace is recorded, by its id and by the decision of the caller, if there is one. */
export type Sampler = (traceId: string, parentSampled: boolean | undefined) => boolean

export const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio'
] as const

/** The samplers that OTEL_TRACES_SAMPLER names. */
export function createSampler(name: (typeof samplers)[number], ratio: number): Sampler {
  const root = rootOf(name.replace('parentbased_', ''), ratio)
  return name.startsWith('parentbased_') ? (traceId, parent) => parent ?? root(traceId) : root
}

function rootOf(name: string, ratio: number): (traceId: string) => boolean {
  if (name === 'always_on') return () => true
  if (name === 'always_off') return () => false
  // By the id, so that all services of a trace decide alike.
  const below = ratio * 2 ** 52
  return (traceId) => Number.parseInt(traceId.slice(-13), 16) < below
}
