import { JsonInput, SegmentedControl, Stack, Textarea, TextInput } from '@mantine/core'
import { useRef, useState } from 'react'
import { errorText, readObject } from '../../parts/json.ts'
import type { Campaign, LiveActivity } from './campaigns.tsx'
import type { Problem } from './segment/builder.tsx'
import { TemplateVariables } from './template-variables.tsx'

interface Needs {
  wish: Campaign
  change: (more: Partial<Campaign>) => void
  may: boolean
  problem: Problem
}

const newActivity: LiveActivity = {
  attributes_type: '',
  attributes: {},
  content_state: {}
}

/** What is sent: a notification or a Live Activity, never both. */
export function Content({ wish, change, may, problem }: Needs) {
  // Identity looks at the other kind for a moment finds what was typed when coming back.
  const left = useRef<Pick<Campaign, 'message' | 'live_activity'>>({ message: { title: '', body: '' } })
  const kind = wish.live_activity ? 'activity' : 'notification'
  const turn = (to: string) => {
    if (to === kind) return
    const before = left.current
    left.current = { message: wish.message, live_activity: wish.live_activity }
    if (to === 'activity') change({ message: undefined, live_activity: before.live_activity ?? newActivity })
    else change({ message: before.message ?? wish.message, live_activity: undefined })
  }
  return (
    <Stack>
      <SegmentedControl
        aria-label="Message type"
        w="fit-content"
        maw="100%"
        value={kind}
        onChange={turn}
        disabled={!may}
        data={[
          { value: 'notification', label: 'Notification' },
          { value: 'activity', label: 'Live Activity' }
        ]}
      />
      <TemplateVariables may={may}>
        {wish.live_activity ? (
          <ActivityFields
            activity={wish.live_activity}
            set={(live_activity) => change({ live_activity })}
            may={may}
            problem={problem}
          />
        ) : (
          <NotificationFields wish={wish} change={change} may={may} problem={problem} />
        )}
      </TemplateVariables>
    </Stack>
  )
}

function NotificationFields({ wish, change, may, problem }: Needs) {
  const text = (
    name: 'title' | 'body' | 'image_url' | 'landing_url',
    label: string,
    Field: typeof TextInput | typeof Textarea,
    about?: string
  ) => (
    <Field
      label={label}
      description={about}
      value={wish.message?.[name] ?? ''}
      // A message that says nothing is refused as a whole; the title is where to begin.
      error={problem(`message.${name}`) ?? (name === 'title' ? problem('message', true) : undefined)}
      data-template
      readOnly={!may}
      onChange={({ currentTarget }: { currentTarget: { value: string } }) =>
        change({ message: { ...wish.message, [name]: currentTarget.value } })
      }
    />
  )
  return (
    <>
      {text('title', 'Title', TextInput)}
      {text('body', 'Body', Textarea)}
      {text('image_url', 'Image URL', TextInput, 'Starts with https:// or http://')}
      {text('landing_url', 'Link', TextInput, 'A web page or a deep link into your app')}
    </>
  )
}

/** An activity that the trigger starts on iPhones whose app has told the token for starting it. */
function ActivityFields({
  activity,
  set,
  may,
  problem
}: {
  activity: LiveActivity
  set: (activity: LiveActivity) => void
  may: boolean
  problem: Needs['problem']
}) {
  const alert = (name: 'title' | 'body', label: string, standard: string) => (
    <TextInput
      label={label}
      placeholder={standard}
      value={activity.alert?.[name] ?? ''}
      error={problem(`live_activity.alert.${name}`)}
      data-template
      readOnly={!may}
      onChange={({ currentTarget }) => set({ ...activity, alert: { ...activity.alert, [name]: currentTarget.value } })}
    />
  )
  const object = (name: 'attributes' | 'content_state', label: string, about: string) => (
    <ObjectField
      label={label}
      about={about}
      value={activity[name]}
      set={(value) => set({ ...activity, [name]: value })}
      error={problem(`live_activity.${name}`)}
      may={may}
    />
  )
  return (
    <>
      <TextInput
        label="Attributes type"
        description="ActivityAttributes type in your app, for example DeliveryActivityAttributes"
        value={activity.attributes_type}
        error={problem('live_activity.attributes_type') ?? problem('live_activity', true)}
        readOnly={!may}
        onChange={({ currentTarget }) => set({ ...activity, attributes_type: currentTarget.value })}
      />
      {object('attributes', 'Attributes', 'Static data as JSON. Strings can be templates.')}
      {object('content_state', 'Content state', 'Dynamic data as JSON. Strings can be templates.')}
      {alert('title', 'Alert title', 'Live Activity')}
      {alert('body', 'Alert body', 'Started')}
    </>
  )
}

/**
 * An object as JSON. What is not an object (yet) is handed on as the text it is: a reload keeps it, and the service does
 * not take it.
 */
function ObjectField({
  label,
  about,
  value,
  set,
  error,
  may
}: {
  label: string
  about: string
  value: object | string
  set: (value: object | string) => void
  error: string | undefined
  may: boolean
}) {
  const [text, setText] = useState(() => (typeof value === 'string' ? value : JSON.stringify(value, null, 2)))
  const read = readObject(text)
  return (
    <JsonInput
      label={label}
      description={about}
      value={text}
      onChange={(typed) => {
        setText(typed)
        const now = readObject(typed)
        set(now instanceof Error ? typed : now)
      }}
      error={errorText(read) ?? error}
      data-template
      readOnly={!may}
      autosize
      minRows={3}
      maxRows={16}
    />
  )
}
