import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import type { Preview } from '../../../../../wire.ts'
import { project } from '../../../api/client.ts'
import { useHasRole, useProjectId } from '../../../api/session.ts'
import { objectOr } from '../../../parts/json.ts'
import { useSessionState } from '../../../parts/session-state.ts'
import type { CampaignDraft } from '../draft.ts'

/** Previews the campaign as it is typed, for everyone or for one user. */
export function usePreview(draft: CampaignDraft) {
  const projectId = useProjectId()
  const canPreview = useHasRole('editor')
  const [user, setUser] = useSessionState('preview as', '')
  const [properties, setProperties] = useSessionState(`preview properties ${draft.campaign_id ?? ''}`, '{}')
  const [asked] = useDebouncedValue({ draft, user, properties: objectOr(properties, {}) }, 400)
  const { data, error } = useQuery({
    queryKey: ['preview', projectId, asked],
    queryFn: ({ signal }) =>
      project<Preview>(projectId, 'POST', '/campaigns:preview', {
        body: {
          // A preview does not need the name that the campaign still lacks.
          campaign: { ...asked.draft, name: asked.draft.name || 'Untitled' },
          audience: asked.user ? { targets: [{ project_user_id: asked.user }] } : { broadcast: true },
          properties: asked.properties
        },
        signal
      }),
    // An empty form would only be rejected.
    enabled: canPreview && hasContent(asked.draft),
    retry: false,
    placeholderData: (before) => before
  })
  return { data, error, user, setUser, properties, setProperties }
}

/** Whether there is anything to preview: a text somewhere, or a Live Activity. */
function hasContent({ message, variants, steps, live_activity }: CampaignDraft): boolean {
  const texts = [{ message, variants }, ...(steps ?? [])].flatMap((place) => [
    place.message,
    ...(place.variants ?? []).map((variant) => variant.message)
  ])
  return live_activity !== undefined || texts.some((text) => text?.title || text?.body || text?.silent)
}
