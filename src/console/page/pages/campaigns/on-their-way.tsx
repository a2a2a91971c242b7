import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Campaign, CampaignJourneys } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { plural } from '../../parts/texts.tsx'

/** Users who wait for a message of the campaign: after an event, or between two steps. */
export function OnTheirWay({ campaign: { campaign_id, type, steps } }: { campaign: Campaign }) {
  const projectId = useProjectId()
  const { data } = useQuery({
    queryKey: ['journeys', projectId, campaign_id],
    queryFn: () =>
      project<CampaignJourneys>(projectId, 'GET', `/campaigns/${encodeURIComponent(campaign_id)}/journeys`),
    enabled: type === 'event_triggered' || steps !== undefined,
    meta: { kinds: ['events', 'triggers', 'campaigns'] }
  })
  if (!data || data.waiting + data.completed + data.exited + data.stopped === 0) return null
  const waiting = data.steps.map(({ step, waiting: count }) => `${count.toLocaleString()} for ${step ?? 'the message'}`)
  const ended = (['completed', 'exited', 'stopped'] as const).map((state) => `${data[state].toLocaleString()} ${state}`)
  return (
    <Text size="sm">
      On their way: {plural(data.waiting, 'user')}
      {waiting.length > 0 && ` (${waiting.join(', ')})`}. {ended.join(', ')}.
    </Text>
  )
}
