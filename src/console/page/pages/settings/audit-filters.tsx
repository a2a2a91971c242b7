import { Group, Select } from '@mantine/core'
import type { Actor } from '../../../../wire.ts'
import { useUrlState } from '../../parts/url-state.ts'
import { labelOf } from './audit-list.tsx'

const dayMs = 86_400_000
const periods = [
  { value: '1', label: 'Last 24 hours' },
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' }
]

/** The minute some days ago, so that the query stays the same while the page renders again. */
const daysAgo = (days: string) => new Date(Math.floor((Date.now() - Number(days) * dayMs) / 60_000) * 60_000)

/** The filters that the address of the page names, and whether there are any. */
export function useAuditQuery() {
  const [actor] = useUrlState('actor')
  const [action] = useUrlState('kind')
  const [days] = useUrlState('days')
  const from = periods.some(({ value }) => value === days) ? daysAgo(days).toISOString() : undefined
  return { query: { actor, action, from }, filtered: Boolean(actor || action || from) }
}

interface Props {
  /** Undefined while they are loaded. */
  actors: Actor[] | undefined
  /** The beginnings of actions, with their labels. */
  kinds: { value: string; label: string }[]
}

/** Who changed what, and when. */
export function AuditFilters({ actors = [], kinds }: Props) {
  const [actor, setActor] = useUrlState('actor')
  const [kind, setKind] = useUrlState('kind')
  const [days, setDays] = useUrlState('days')
  const people = actors.map((one) => ({ value: one.actor, label: labelOf(one) }))
  const common = { placeholder: 'Any', clearable: true, w: 200 }
  return (
    <Group>
      <Select label="Who" {...common} searchable value={actor || null} onChange={setActor} data={people} />
      <Select label="What" {...common} value={kind || null} onChange={setKind} data={kinds} />
      <Select label="When" {...common} value={days || null} onChange={setDays} data={periods} />
    </Group>
  )
}
