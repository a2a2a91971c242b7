import { Badge, Progress as Bar, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Trigger, TriggerSize } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'

const colors: Record<string, string> = {
  completed: 'teal',
  failed: 'red',
  canceled: 'gray',
  canceling: 'orange',
  scheduled: 'indigo'
}

export const StateBadge = ({ state }: { state: string }) => (
  <Badge color={colors[state] ?? 'cyan'} variant="light" style={{ flexShrink: 0 }}>
    {state}
  </Badge>
)

/** A trigger counts its recipients batch by batch while it sends, so its audience is counted once beside it. */
function useAudienceSize({ trigger_id, expanded_at, ended_at }: Trigger): number | undefined {
  const projectId = useProjectId()
  const { data } = useQuery({
    queryKey: ['trigger size', projectId, trigger_id],
    queryFn: () => project<TriggerSize>(projectId, 'GET', `/triggers/${trigger_id}/size`),
    enabled: expanded_at === null && ended_at === null,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false
  })
  return data?.complete ? data.devices : undefined
}

/** The shares of sent, failed and skipped messages among all, or that all are still being counted. */
export function Progress({ trigger }: { trigger: Trigger }) {
  const { counts, expanded_at, ended_at, state } = trigger
  const size = useAudienceSize(trigger)
  const isKnown = expanded_at !== null || ended_at !== null
  const all = isKnown ? counts.targeted : size === undefined ? undefined : Math.max(size, counts.targeted)
  const done = counts.sent + counts.failed + counts.skipped
  const share = (count: number) => (all ? (100 * count) / all : 0)
  return (
    <div>
      <Bar.Root size="lg" aria-label="Progress">
        <Bar.Section value={share(counts.sent)} color="teal" aria-label={`${counts.sent} sent`} />
        <Bar.Section value={share(counts.failed)} color="red" aria-label={`${counts.failed} failed`} />
        <Bar.Section value={share(counts.skipped)} color="gray.5" aria-label={`${counts.skipped} skipped`} />
      </Bar.Root>
      {state !== 'scheduled' && (
        <Text size="sm" mt={4} data-progress={all === undefined ? 'counting' : 'known'}>
          {all === undefined
            ? `${done.toLocaleString()} done. Recipients are still being counted.`
            : `${done.toLocaleString()} of ${all.toLocaleString()} done${all > 0 ? ` · ${Math.floor(share(done))}%` : ''}`}
        </Text>
      )}
    </div>
  )
}
