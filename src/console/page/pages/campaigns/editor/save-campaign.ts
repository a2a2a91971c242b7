import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Campaign, SavedCampaign } from '../../../../../wire.ts'
import { project } from '../../../api/client.ts'
import { useProjectId } from '../../../api/session.ts'
import { toast } from '../../../parts/toasts.tsx'
import { type CampaignDraft, draftOf } from '../draft.ts'

const pathOf = (campaignId: string) => `/campaigns/${encodeURIComponent(campaignId)}`

/** Replaces the version given, and only that one. */
export const putCampaign = (projectId: string, campaignId: string, version: number | null, body: CampaignDraft) =>
  project<SavedCampaign>(projectId, 'PUT', pathOf(campaignId), { body, headers: { 'if-match': `"${version}"` } })

export const readCampaign = (projectId: string, campaignId: string) =>
  project<Campaign>(projectId, 'GET', pathOf(campaignId))

/** Shows a saved campaign everywhere in the page. */
export function useShowSaved() {
  const projectId = useProjectId()
  const queries = useQueryClient()
  return (saved: Campaign) => {
    queries.setQueryData(['campaign', projectId, saved.campaign_id], saved)
    void queries.invalidateQueries({ queryKey: ['list', projectId, '/campaigns'] })
    void queries.invalidateQueries({ queryKey: ['list', projectId, `${pathOf(saved.campaign_id)}/versions`] })
  }
}

/**
 * Saves another content or status of a campaign at once, apart from what is typed in its editor. The toast can undo it:
 * the content before becomes a version again.
 */
export function useReplace(campaign: Campaign) {
  const projectId = useProjectId()
  const show = useShowSaved()
  return useMutation({
    mutationFn: ({ draft }: { draft: CampaignDraft; said: (version: number) => string }) =>
      putCampaign(projectId, campaign.campaign_id, campaign.version, draft),
    onSuccess: (saved, { said }) => {
      show(saved)
      toast(said(saved.version), { undo: () => undoTo(projectId, saved, draftOf(campaign), show) })
    }
  })
}

/** Makes an earlier content the newest version again. */
export async function undoTo(
  projectId: string,
  saved: Campaign,
  before: CampaignDraft,
  show: (saved: Campaign) => void
): Promise<void> {
  try {
    const undone = await putCampaign(projectId, saved.campaign_id, saved.version, before)
    show(undone)
    toast(`Undone. Version ${undone.version} is like version ${saved.version - 1}.`)
  } catch (error) {
    toast(`Not undone: ${(error as Error).message}`)
  }
}
