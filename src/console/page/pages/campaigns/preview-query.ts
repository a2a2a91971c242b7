import { useDebouncedValue } from '@mantine/hooks'
import { useQueries, useQuery } from '@tanstack/react-query'
import type { Preview } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { objectOr } from '../../parts/json.ts'
import { useSessionState } from '../../parts/session-state.ts'
import { type CampaignDraft, everyText, type PlacedText } from './draft.ts'

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

const hasContent = (draft: CampaignDraft) =>
  draft.live_activity !== undefined || everyText(draft).some(({ message }) => message.title || message.body)

/** Renders texts of the campaign for one device, each as if it were the only one. */
export function useRenderedTexts(draft: CampaignDraft, texts: PlacedText[], deviceId: string, properties: string) {
  const projectId = useProjectId()
  // What the texts do not need would only be checked again, and a refusal of it says nothing about them.
  const { name, type, segment } = draft
  return useQueries({
    queries: texts.map(({ message }) => ({
      queryKey: ['rendered', projectId, message, deviceId, properties],
      queryFn: () =>
        project<Preview>(projectId, 'POST', '/campaigns:preview', {
          body: {
            campaign: { name: name || 'Untitled', type, status: 'draft', segment, message },
            audience: { targets: [{ device_id: deviceId }] },
            properties: objectOr(properties, {})
          }
        }),
      retry: false
    }))
  })
}
