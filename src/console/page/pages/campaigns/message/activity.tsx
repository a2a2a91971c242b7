import { JsonInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import { errorText, readObject } from '../../../parts/json.ts'
import type { LiveActivityDraft } from '../draft.ts'
import { useEditor } from '../editor-form.ts'

/** A Live Activity that the trigger starts on iPhones whose app has registered a start token. */
export function ActivityFields({ activity }: { activity: LiveActivityDraft }) {
  const { field, findError } = useEditor()
  const type = field('live_activity.attributes_type')
  return (
    <>
      <TextInput
        {...type}
        label="Attributes type"
        description="ActivityAttributes type in your app, for example DeliveryActivityAttributes"
        error={type.error ?? findError('live_activity', true)}
      />
      <ObjectField
        name="attributes"
        activity={activity}
        label="Attributes"
        description="Static data as JSON. Strings can be templates."
      />
      <ObjectField
        name="content_state"
        activity={activity}
        label="Content state"
        description="Dynamic data as JSON. Strings can be templates."
      />
      <TextInput
        {...field('live_activity.alert.title')}
        label="Alert title"
        placeholder="Live Activity"
        data-template
      />
      <TextInput {...field('live_activity.alert.body')} label="Alert body" placeholder="Started" data-template />
    </>
  )
}

/** An object as JSON. Text that is not an object is kept as it is: a reload keeps it, and the service rejects it. */
function ObjectField({
  name,
  activity,
  label,
  description
}: {
  name: 'attributes' | 'content_state'
  activity: LiveActivityDraft
  label: string
  description: string
}) {
  const { set, canEdit, findError } = useEditor()
  const value = activity[name]
  const [text, setText] = useState(() => (typeof value === 'string' ? value : JSON.stringify(value, null, 2)))
  return (
    <JsonInput
      label={label}
      description={description}
      value={text}
      onChange={(typed) => {
        setText(typed)
        const read = readObject(typed)
        set(`live_activity.${name}`, read instanceof Error ? typed : read)
      }}
      error={errorText(readObject(text)) ?? findError(`live_activity.${name}`)}
      data-template
      readOnly={!canEdit}
      autosize
      minRows={3}
      maxRows={16}
    />
  )
}
