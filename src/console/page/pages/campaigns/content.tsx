import { JsonInput, SegmentedControl, Stack, Textarea, TextInput } from '@mantine/core'
import { useRef, useState } from 'react'
import { errorText, readObject } from '../../parts/json.ts'
import type { CampaignDraft, LiveActivityDraft } from './draft.ts'
import { useEditor } from './editor-form.ts'
import { TemplateVariables } from './template-variables.tsx'

const newActivity: LiveActivityDraft = { attributes_type: '', attributes: {}, content_state: {}, alert: {} }

/** The content of a campaign: a notification or a Live Activity, never both. */
export function Content() {
  const { form, canEdit } = useEditor()
  const { message, live_activity } = form.values
  // Keeps the fields of the other type, so that switching back loses nothing.
  const other = useRef<Pick<CampaignDraft, 'message' | 'live_activity'>>({ message: { title: '', body: '' } })
  const type = live_activity ? 'activity' : 'notification'
  const turn = (to: string) => {
    if (to === type) return
    const before = other.current
    other.current = { message, live_activity }
    if (to === 'activity') form.setValues({ message: undefined, live_activity: before.live_activity ?? newActivity })
    else form.setValues({ message: before.message ?? message, live_activity: undefined })
  }
  return (
    <Stack>
      <SegmentedControl
        aria-label="Message type"
        w="fit-content"
        maw="100%"
        value={type}
        onChange={turn}
        disabled={!canEdit}
        data={[
          { value: 'notification', label: 'Notification' },
          { value: 'activity', label: 'Live Activity' }
        ]}
      />
      <TemplateVariables canEdit={canEdit}>
        {live_activity ? <ActivityFields activity={live_activity} /> : <NotificationFields />}
      </TemplateVariables>
    </Stack>
  )
}

function NotificationFields() {
  const { field, findError } = useEditor()
  const title = field('message.title')
  return (
    <>
      {/* A message without any text is rejected as a whole; its error appears at the title. */}
      <TextInput {...title} label="Title" error={title.error ?? findError('message', true)} data-template />
      <Textarea {...field('message.body')} label="Body" data-template />
      <TextInput
        {...field('message.image_url')}
        label="Image URL"
        description="Starts with https:// or http://"
        data-template
      />
      <TextInput
        {...field('message.landing_url')}
        label="Link"
        description="A web page or a deep link into your app"
        data-template
      />
    </>
  )
}

/** A Live Activity that the trigger starts on iPhones whose app has registered a start token. */
function ActivityFields({ activity }: { activity: LiveActivityDraft }) {
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
  const { form, canEdit, findError } = useEditor()
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
        form.setFieldValue(`live_activity.${name}`, read instanceof Error ? typed : read)
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
