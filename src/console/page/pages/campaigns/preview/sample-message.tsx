import { Stack, Text } from '@mantine/core'
import type { Preview } from '../../../../../wire.ts'
import { ActivityCard, NotificationCard, Screen } from '../../../parts/phone/phone.tsx'
import { reasonTitle } from '../../triggers/reasons.ts'
import { languageName } from '../message/language-name.ts'

export type Sample = Preview['sample'][number]

/** The message of a device that would get it, if there is one in the sample. */
export const bestSample = ({ sample }: Preview): Sample | undefined =>
  sample.find(({ reason }) => reason === null) ?? sample[0]

/** A rendered message on the screen of a device. */
export const SampleScreen = ({
  platform,
  label,
  content
}: Pick<Sample, 'platform' | 'content'> & { label: string }) => (
  <Screen platform={platform} label={label} small>
    {content?.notification && (
      <NotificationCard
        title={content.notification.title}
        body={content.notification.body}
        image_url={content.notification.imageUrl}
      />
    )}
    {content?.activity && <ActivityCard type={content.activity.attributesType} state={content.activity.contentState} />}
  </Screen>
)

/** Values that the text uses and this person lacks. */
export const MissingValues = ({ names }: { names: string[] }) =>
  names.length > 0 ? <Text size="sm">No value for {names.map((name) => `{{ ${name} }}`).join(', ')}</Text> : null

/** The message of one device of the audience. */
export const SampleMessage = (sample: Sample) => {
  const { platform, project_user_id, content, reason, payload_bytes, variant, language, missing } = sample
  const details = [
    project_user_id ?? 'Anonymous user',
    ...(variant === null ? [] : [`variant ${variant}`]),
    ...(language === null ? [] : [languageName(language)]),
    `${payload_bytes?.toLocaleString() ?? 'no'} bytes`
  ]
  return (
    <Stack gap={4}>
      <SampleScreen
        platform={platform}
        label={`Preview for ${project_user_id ?? 'an anonymous user'}`}
        content={content}
      />
      {content?.notification?.landingUrl && <Text size="sm">Link: {content.notification.landingUrl}</Text>}
      {reason && (
        <Text c="var(--mantine-color-error)" size="sm">
          Would not be delivered: {reason.startsWith('template_failed:') ? reason.slice(17) : reasonTitle(reason)}
        </Text>
      )}
      <MissingValues names={missing} />
      <Text size="xs" c="dimmed">
        {details.join(' · ')}
      </Text>
    </Stack>
  )
}
