import { keep } from '../../../parts/session-state.ts'
import type { CampaignDraft } from '../draft.ts'

/** Drafts that another release of the console kept in another form are dropped. */
const format = 2

interface StoredDraft {
  format: number
  /** The version that the draft began with; null: the campaign is not saved yet. */
  version: number | null
  values: CampaignDraft
}

/** A campaign that was deleted and created again has another time of creation, and its drafts are not those of the old. */
export const draftKey = (
  projectId: string,
  campaign: { campaign_id: string; created_at: string } | undefined,
  from = ''
) =>
  campaign
    ? `tidings-draft ${projectId} ${campaign.campaign_id} ${campaign.created_at}`
    : `tidings-draft ${projectId} new ${from}`

export function readDraft(key: string): StoredDraft | undefined {
  try {
    const stored = JSON.parse(sessionStorage.getItem(key) ?? 'null') as StoredDraft | null
    return stored?.format === format ? stored : undefined
  } catch {
    return undefined
  }
}

/** Keeps a draft until it is saved or the tab is closed. Returns whether the browser had room for it. */
export const keepDraft = (key: string, version: number | null, values: CampaignDraft): boolean =>
  keep(sessionStorage, key, JSON.stringify({ format, version, values } satisfies StoredDraft))

export const dropDraft = (key: string) => sessionStorage.removeItem(key)

/** Drops the drafts of a campaign that does not exist any more. */
export function dropDraftsOf(projectId: string, campaignId: string): void {
  for (const key of Object.keys(sessionStorage))
    if (key.startsWith(`tidings-draft ${projectId} ${campaignId} `)) sessionStorage.removeItem(key)
}
