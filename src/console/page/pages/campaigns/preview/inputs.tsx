import { JsonInput, TextInput } from '@mantine/core'
import { fieldError } from '../../../api/errors.ts'
import { errorText, readObject } from '../../../parts/json.ts'
import type { CampaignDraft } from '../draft.ts'
import type { usePreview } from './preview-query.ts'

/** Whose message the preview shows, and the values of its trigger. */
export function PreviewInputs({
  preview: { error, user, setUser, properties, setProperties },
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
      <JsonInput
        label={draft.type === 'event_triggered' ? 'Event properties' : 'Trigger properties'}
        description={draft.type === 'event_triggered' ? 'Values for {{ event.* }}' : 'Values for {{ trigger.* }}'}
        value={properties}
        onChange={setProperties}
        error={errorText(readObject(properties)) ?? fieldError(error, 'properties')}
        autosize
        minRows={1}
      />
    </>
  )
}
