import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import type { Campaign, Preview } from '../../../../../wire.ts'
import { project } from '../../../api/client.ts'
import { useHasRole, useProjectId } from '../../../api/session.ts'

/** The body of a trigger, or of its preview. */
export type TriggerRequest = Record<string, unknown>

export const campaignPath = ({ campaign_id }: Pick<Campaign, 'campaign_id'>) =>
  `/api/v1/campaigns/${encodeURIComponent(campaign_id)}`

/** A target that does not exist: a preview for it counts nothing and only reads the texts. */
const nobody = { audience: { targets: [{ user_id: '00000000-0000-0000-0000-000000000000' }] } }

/** The preview of a trigger a moment after each change. `request` is undefined while something is missing. */
export function useDryRun(campaign: Campaign, request: TriggerRequest | undefined) {
  const projectId = useProjectId()
  const [asked] = useDebouncedValue(request, 400)
  const query = useQuery({
    queryKey: ['dry-run', projectId, campaign.campaign_id, campaign.version, asked],
    queryFn: ({ signal }) =>
      project<Preview>(projectId, 'POST', `${campaignPath(campaign)}:preview`, { body: asked, signal }),
    enabled: asked !== undefined,
    retry: false
  })
  const isCurrent = JSON.stringify(asked) === JSON.stringify(request)
  return { audience: request && query.data?.audience, error: query.error, isCurrent }
}

/** The values of the trigger that the saved campaign uses. Previews need the editor role. */
export function useTriggerProperties(campaign: Campaign): Preview['trigger_properties'] {
  const projectId = useProjectId()
  const { data } = useQuery({
    queryKey: ['trigger properties', projectId, campaign.campaign_id, campaign.version],
    queryFn: ({ signal }) =>
      project<Preview>(projectId, 'POST', `${campaignPath(campaign)}:preview`, { body: nobody, signal }),
    enabled: useHasRole('editor'),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false
  })
  return data?.trigger_properties ?? []
}
