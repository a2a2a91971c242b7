import { TextInput } from '@mantine/core'
import { useEditor } from '../editor-form.ts'
import { ObjectField } from './object-field.tsx'

/** A Live Activity that the trigger starts on iPhones whose app has registered a start token. */
export function ActivityFields() {
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
        path="live_activity.attributes"
        label="Attributes"
        description="Static data as JSON. Strings can be templates."
      />
      <ObjectField
        path="live_activity.content_state"
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
      <TextInput
        {...field('live_activity.apns_channel_id')}
        label="Broadcast channel"
        description="Apple’s ID of the channel that the activities listen to (iOS 18). Blank for none"
        data-template
      />
    </>
  )
}
