import type { Trigger } from '../../../../wire.ts'

const kinds: Record<Trigger['source']['kind'], string> = {
  api: 'Call',
  schedule: 'Schedule',
  event: 'Event',
  step: 'Step'
}

/** What made a trigger: `Call`, `Event purchase`, `Step second`. */
export function sourceText({ source, step }: Pick<Trigger, 'source' | 'step'>): string {
  const detail = source.kind === 'event' ? source.event : source.kind === 'step' ? step : undefined
  return [kinds[source.kind] ?? source.kind, ...(typeof detail === 'string' ? [detail] : [])].join(' ')
}
