import { type UseFormReturnType, useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { createContext, useContext, useEffect, useState } from 'react'
import type { Campaign, SavedCampaign } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { campaignLink } from '../../parts/links.ts'
import { readStored, store } from '../../parts/session-state.ts'
import { type CampaignDraft, draftOf, emptyDraft, withoutBlanks } from './draft.ts'
import { valueAt, withValue } from './paths.ts'
import { usePreview } from './preview/preview-query.ts'
import type { FindError } from './segment/segment.ts'

/** The state that all parts of the editor share. */
interface EditorContext {
  form: UseFormReturnType<CampaignDraft>
  canEdit: boolean
  findError: FindError
  /** The next times of the schedule, once the service has read it. */
  nextAt?: string[] | undefined
}

const Context = createContext<EditorContext | null>(null)
export const EditorProvider = Context.Provider

export function useEditor() {
  const { form, canEdit, findError, nextAt } = useContext(Context)!
  const read = <Value>(path: string) => valueAt(form.values, path) as Value | undefined
  /** Sets the field at a path of the campaign. A blank one is left out, as in a file. */
  const set = (path: string, next: unknown) => {
    const changed = withValue(form.getValues(), path, next === '' || next === null ? undefined : next)
    const top = /^\w+/.exec(path)![0]
    form.setValues({ [top]: (changed as Record<string, unknown>)[top] } as Partial<CampaignDraft>)
  }
  /** Props of the input for a path of the campaign. */
  const field = (path: string) => ({
    value: (read(path) ?? '') as string,
    onChange: (given: unknown) => set(path, typedValue(given)),
    error: findError(path),
    readOnly: !canEdit
  })
  return { form, canEdit, findError, nextAt, read, set, field }
}

/** Text inputs give an event, selects and number inputs their value. */
const typedValue = (given: unknown) =>
  typeof given === 'object' && given !== null && 'currentTarget' in given
    ? (given as { currentTarget: HTMLInputElement }).currentTarget.value
    : given

/** State of the editor: the form, its unsaved draft, the preview and the request that saves it. */
export function useCampaignEditor(campaign: Campaign | undefined) {
  const projectId = useProjectId()
  const canEdit = useHasRole('editor')
  const original = campaign ? draftOf(campaign) : emptyDraft
  const key = `tidings-draft ${projectId} ${campaign ? `${campaign.campaign_id} ${campaign.version}` : 'new'}`
  const form = useForm<CampaignDraft>({ initialValues: readStored<CampaignDraft>(key) ?? original })
  const body = withoutBlanks(form.values)
  const changed = JSON.stringify(body) !== JSON.stringify(withoutBlanks(original))
  useEffect(() => {
    if (changed && canEdit) store(key, form.values)
    else sessionStorage.removeItem(key)
  }, [key, form.values, changed, canEdit])
  const preview = usePreview(body)
  const save = useSave(campaign, body, () => sessionStorage.removeItem(key))
  // The preview reports errors while the campaign is typed. A missing name is an error only when it is saved.
  const findError: FindError = (path, only) =>
    fieldError(save.error, path, only) ??
    (changed && path !== 'name' ? fieldError(preview.error, path, only) : undefined)
  // Fields that hold a text of their own are mounted anew when the changes are discarded.
  const [round, setRound] = useState(0)
  const discard = () => {
    form.setValues(blankMissing(original, form.values))
    setRound(round + 1)
  }
  return { form, canEdit, findError, changed, preview, save, discard, round }
}

/** `setValues` keeps fields that it is not given, so fields that the original lacks are unset by name. */
const blankMissing = (original: CampaignDraft, current: CampaignDraft): Partial<CampaignDraft> => ({
  ...Object.fromEntries(Object.keys(current).map((name) => [name, undefined])),
  ...original
})

function useSave(campaign: Campaign | undefined, body: CampaignDraft, saved: () => void) {
  const projectId = useProjectId()
  const queries = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: () =>
      campaign
        ? project<SavedCampaign>(projectId, 'PUT', `/campaigns/${encodeURIComponent(campaign.campaign_id)}`, {
            body,
            headers: { 'if-match': `"${campaign.version}"` }
          })
        : project<SavedCampaign>(projectId, 'POST', '/campaigns', { body }),
    onSuccess: (result) => {
      saved()
      void queries.invalidateQueries({ queryKey: ['list', projectId, '/campaigns'] })
      queries.setQueryData(['campaign', projectId, result.campaign_id], result)
      if (!campaign) void navigate({ to: campaignLink(projectId, result.campaign_id) })
    }
  })
}
