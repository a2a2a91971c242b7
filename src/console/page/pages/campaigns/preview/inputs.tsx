import { TextInput } from '@mantine/core'
import { fieldError } from '../../../api/errors.ts'
import type { CampaignDraft } from '../draft.ts'
import type { usePreview } from './preview-query.ts'
import { TriggerFields } from './trigger-fields.tsx'

/** Whose message the preview shows, and the values of its trigger. */
export function PreviewInputs({
  preview: { data, error, user, setUser, properties, setProperties },
  draft
}: {
  preview: ReturnType<typeof usePreview>
  draft: CampaignDraft
}) {
  return (
    <>
      <TextInput
        label="Preview as"
        placeholder="Any user in the audience"
        value={user}
        error={fieldError(error, 'audience.targets[0].project_user_id') ?? fieldError(error, 'audience')}
        onChange={({ currentTarget }) => setUser(currentTarget.value)}
      />
      <TriggerFields
        fields={data?.trigger_properties ?? []}
        root={draft.type === 'event_triggered' ? 'event' : 'trigger'}
        text={properties}
        setText={setProperties}
        error={fieldError(error, 'properties')}
      />
    </>
  )
}
