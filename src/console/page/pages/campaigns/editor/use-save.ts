import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { Campaign } from '../../../../../wire.ts'
import { newId, project } from '../../../api/client.ts'
import { useProjectId } from '../../../api/session.ts'
import { campaignLink } from '../../../parts/links.ts'
import { toast } from '../../../parts/toasts.tsx'
import { type CampaignDraft, draftOf, withoutBlanks } from '../draft.ts'
import { isSame } from '../words/differences.ts'
import { isConflict, isOutage } from './faults.ts'
import { putCampaign, readCampaign, undoTo, useShowSaved } from './save-campaign.ts'

/** The pause before a request is repeated that an outage has lost. */
const retryMs = 2_000

interface Asked {
  /** The status that the campaign gets; absent: the one it has. */
  status?: CampaignDraft['status']
}

interface Options {
  campaign: Campaign | undefined
  version: number | null
  read: () => CampaignDraft
  /** Called with what was sent and what the service made of it. */
  onSaved: (sent: CampaignDraft, saved: Campaign) => void
}

/** Saves the campaign. While the service cannot be reached the request is repeated until it arrives, or is called off. */
export function useSave({ campaign, version, read, onSaved }: Options) {
  const projectId = useProjectId()
  const navigate = useNavigate()
  const show = useShowSaved()
  // A campaign without an ID gets one here, so that a repeated request does not create it twice.
  const ownId = useRef(newId())
  const [waiting, setWaiting] = useState(false)
  const saving = useMutation({
    networkMode: 'always',
    mutationFn: async ({ status }: Asked) => {
      const values = withoutBlanks(read())
      const sent = { campaign_id: ownId.current, ...values, status: status ?? values.status }
      return { sent, saved: await send(sent) }
    },
    onSuccess: ({ sent, saved }) => {
      setWaiting(false)
      onSaved(sent, saved)
      show(saved)
      if (!campaign) {
        toast(saved.status === 'active' ? 'Campaign activated.' : 'Draft saved.')
        void navigate({ to: campaignLink(projectId, saved.campaign_id) })
      } else {
        const said = saved.status === campaign.status ? 'Saved' : saidOf[saved.status]
        toast(`${said} as version ${saved.version}.`, {
          undo: () => undoTo(projectId, saved, draftOf(campaign), show)
        })
      }
    },
    onError: (error) => {
      setWaiting(isOutage(error))
      // The newest version is what the changes are compared with.
      if (campaign && isConflict(error)) void readCampaign(projectId, campaign.campaign_id).then(show, () => {})
    }
  })

  async function send(sent: CampaignDraft & { campaign_id: string }): Promise<Campaign> {
    try {
      return campaign
        ? await putCampaign(projectId, campaign.campaign_id, version, sent)
        : await project<Campaign>(projectId, 'POST', '/campaigns', { body: sent })
    } catch (error) {
      if (!isConflict(error as Error)) throw error
      // A request whose response was lost may have arrived: then the service has exactly this campaign.
      const found = await readCampaign(projectId, sent.campaign_id).catch(() => undefined)
      if (found && isSame(draftOf(found), sent)) return found
      throw error
    }
  }

  const { mutate, variables, isPending } = saving
  useEffect(() => {
    if (!waiting || isPending || !variables) return
    const timer = setTimeout(() => mutate(variables), retryMs)
    return () => clearTimeout(timer)
  }, [waiting, isPending, mutate, variables])
  return {
    save: (asked: Asked = {}) => mutate(asked),
    error: isOutage(saving.error) ? null : saving.error,
    waiting,
    stop: () => setWaiting(false),
    isPending: isPending && !waiting,
    reset: saving.reset
  }
}

const saidOf: Record<Campaign['status'], string> = {
  active: 'Activated',
  paused: 'Paused',
  draft: 'Saved as a draft',
  archived: 'Archived'
}
