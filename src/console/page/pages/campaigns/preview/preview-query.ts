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
  const [asked] = useDebouncedValue({ draft, user, properties: objectOr(properties, {}) }, 300)
  const { data, error } = useQuery({
    queryKey: ['preview', projectId, asked],
    queryFn: async ({ signal }) => {
      const preview = await project<Preview>(projectId, 'POST', '/campaigns:preview', {
        body: {
          // The text can be shown whatever the campaign still lacks: a name, or something that it needs to be active.
          campaign: { ...asked.draft, name: asked.draft.name || 'Untitled', status: 'draft' },
          audience: asked.user ? { targets: [{ project_user_id: asked.user }] } : { broadcast: true },
          properties: asked.properties
        },
        signal
      })
      return { preview, of: asked.draft }
    },
    // An empty form would only be rejected.
    enabled: canPreview && hasContent(asked.draft),
    retry: false,
    placeholderData: (before) => before
  })
  /** `of`: the campaign that `data` shows, which may be a few letters behind. */
  return { data: data?.preview, of: data?.of, error, user, setUser, properties, setProperties }
}

/** Whether there is anything to preview: a text somewhere, or a Live Activity. */
function hasContent({ message, variants, steps, live_activity }: CampaignDraft): boolean {
  const texts = [{ message, variants }, ...(steps ?? [])].flatMap((place) => [
    place.message,
    ...(place.variants ?? []).map((variant) => variant.message)
  ])
  return live_activity !== undefined || texts.some((text) => text?.title || text?.body || text?.silent)
}
