import { useForm } from '@mantine/form'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { Campaign } from '../../../../../wire.ts'
import { ApiError, fieldError } from '../../../api/errors.ts'
import { useHasRole, useProjectId } from '../../../api/session.ts'
import { toast } from '../../../parts/toasts.tsx'
import { type CampaignDraft, draftOf, emptyDraft, withoutBlanks } from '../draft.ts'
import { usePreview } from '../preview/preview-query.ts'
import type { FindError } from '../segment/segment.ts'
import { differencesOf, isSame } from '../words/differences.ts'
import { faultsIn } from './faults.ts'
import { draftKey, dropDraft, keepDraft, readDraft } from './stored-draft.ts'
import { useSave } from './use-save.ts'

/** What the changes are relative to. `draft` is undefined if a reload found a draft of an older version. */
interface Base {
  version: number | null
  draft: CampaignDraft | undefined
}

export interface Beginning {
  /** The campaign to begin with, if it is not empty. */
  draft: CampaignDraft
  /** The ID of the campaign that is duplicated. */
  from: string
}

/** State of the editor: the form, its unsaved draft, what others saved meanwhile, the preview and saving. */
export function useCampaignEditor(campaign: Campaign | undefined, beginning: Beginning | undefined) {
  const canEdit = useHasRole('editor')
  const key = draftKey(useProjectId(), campaign, beginning?.from)
  const [stored] = useState(() => (canEdit ? readDraft(key) : undefined))
  const first = campaign ? draftOf(campaign) : (beginning?.draft ?? emptyDraft)
  const [base, setBase] = useState<Base>(() => {
    const version = campaign?.version ?? null
    return stored && stored.version !== version
      ? { version: stored.version, draft: undefined }
      : { version, draft: first }
  })
  const form = useForm<CampaignDraft>({ initialValues: stored?.values ?? first })
  const body = useMemo(() => withoutBlanks(form.values), [form.values])
  const changed = base.draft === undefined || !isSame(body, withoutBlanks(base.draft))
  const kept = useKeptDraft(key, base.version, form.values, changed && canEdit)
  // Fields that hold a text of their own are mounted anew when other values are set.
  const [round, setRound] = useState(0)
  const replace = (values: CampaignDraft) => {
    form.setValues(blankMissing(values, form.getValues()))
    setRound((before) => before + 1)
  }

  const saving = useSave({
    campaign,
    version: base.version,
    read: form.getValues,
    onSaved(sent, saved) {
      const draft = draftOf(saved)
      const typed = withoutBlanks(form.getValues())
      setBase({ version: saved.version, draft })
      // What was typed while the request was on its way stays.
      const isAsSent = isSame(
        { ...typed, status: null, campaign_id: null },
        { ...sent, status: null, campaign_id: null }
      )
      form.setValues(isAsSent ? blankMissing(draft, form.getValues()) : { status: saved.status })
      if (!campaign) dropDraft(key)
    }
  })

  const newer = campaign && campaign.version > (base.version ?? 0) ? campaign : undefined
  const settled = newer && howToSettle(base, changed ? body : undefined, draftOf(newer))
  useEffect(() => {
    if (!newer || settled === 'ask') return
    const draft = draftOf(newer)
    setBase({ version: newer.version, draft })
    if (settled === 'take') {
      form.setValues(blankMissing(draft, form.getValues()))
      setRound((before) => before + 1)
    } else form.setFieldValue('status', draft.status)
  }, [newer, settled, form.setValues, form.getValues, form.setFieldValue])

  const preview = usePreview(body)
  const { faults, findError } = useFaults({ body, changed, saving, preview })
  return {
    ...{ form, canEdit, body, changed, kept, base, saving, preview, faults, findError, round, replace },
    /** The version of someone else that the changes must be compared with. */
    conflict: settled === 'ask' ? newer : undefined,
    resolve(values: CampaignDraft, theirs: Campaign) {
      setBase({ version: theirs.version, draft: draftOf(theirs) })
      saving.reset()
      replace(values)
    },
    discard() {
      const before = form.getValues()
      saving.reset()
      replace(base.draft ?? first)
      toast('Changes discarded.', { undo: () => replace(before) })
    }
  }
}

/** `take`: nothing of mine would be lost. `status`: only the status was changed. `ask`: a person must compare. */
function howToSettle(base: Base, mine: CampaignDraft | undefined, theirs: CampaignDraft): 'take' | 'status' | 'ask' {
  if (!mine || isSame(mine, withoutBlanks(theirs))) return 'take'
  const { draft } = base
  return draft && differencesOf(draft, theirs).every(({ path }) => path === 'status') ? 'status' : 'ask'
}

/** Keeps unsaved changes in the browser. Returns false if it has no room for them. */
function useKeptDraft(key: string, version: number | null, values: CampaignDraft, wanted: boolean): boolean {
  const [kept, setKept] = useState(true)
  useEffect(() => {
    if (wanted) setKept(keepDraft(key, version, values))
    else dropDraft(key)
  }, [key, version, values, wanted])
  return kept
}

/** The faults that the service found in the campaign as it is typed, and when it was saved. */
function useFaults({
  body,
  changed,
  saving,
  preview
}: {
  body: CampaignDraft
  changed: boolean
  saving: ReturnType<typeof useSave>
  preview: ReturnType<typeof usePreview>
}) {
  // A refused field is shown as such until the campaign is changed.
  const refused = useRef<{ error: Error | null; body: CampaignDraft }>({ error: null, body })
  if (refused.current.error !== saving.error) refused.current = { error: saving.error, body }
  const saveError = refused.current.body === body ? saving.error : null
  const lacking = preview.data?.cannot_run ?? []
  const faults = faultsIn([saveError, preview.error, new ApiError(400, '', '', lacking)])
  const found = new ApiError(400, '', '', faults)
  const findError: FindError = (path, only) => (changed || saveError ? fieldError(found, path, only) : undefined)
  return { faults, findError }
}

/** `setValues` keeps fields that it is not given, so fields that the new values lack are unset by name. */
const blankMissing = (next: CampaignDraft, current: CampaignDraft): Partial<CampaignDraft> => ({
  ...Object.fromEntries(Object.keys(current).map((name) => [name, undefined])),
  ...next
})
