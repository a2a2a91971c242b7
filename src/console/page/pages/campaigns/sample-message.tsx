import { Stack, Text } from '@mantine/core'
import type { Preview } from '../../../../wire.ts'
import { ActivityCard, NotificationCard, Screen } from '../../parts/phone.tsx'

export type Sample = Preview['sample'][number]

/** A rendered message on the screen of its device. */
export const SampleMessage = ({ platform, project_user_id, content, reason, payload_bytes }: Sample) => (
  <Stack gap={4}>
    <Screen platform={platform} label={`Preview for ${project_user_id ?? 'an anonymous user'}`} small>
      {content?.notification && (
        <NotificationCard
          title={content.notification.title}
          body={content.notification.body}
          image_url={content.notification.imageUrl}
        />
      )}
      {content?.activity && (
        <ActivityCard type={content.activity.attributesType} state={content.activity.contentState} />
      )}
    </Screen>
    {content?.notification?.landingUrl && <Text size="sm">Link: {content.notification.landingUrl}</Text>}
    {reason && (
      <Text c="var(--mantine-color-error)" size="sm">
        Would not be delivered: {reason}
      </Text>
    )}
    <Text size="xs" c="dimmed">
      {project_user_id ?? 'Anonymous user'} · {payload_bytes?.toLocaleString() ?? 'no'} bytes
    </Text>
  </Stack>
)
