import { Button, Group, JsonInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useMutation, useQuery } from '@tanstack/react-query'
import type { Preview } from '../../../../campaigns/preview/responses.ts'
import { project } from '../../api/client.ts'
import { ApiError, fieldError } from '../../api/errors.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { errorText, objectOr, readObject } from '../../parts/json.ts'
import { ActivityCard, NotificationCard, Screen } from '../../parts/phone.tsx'
import { useSessionState } from '../../parts/session-state.ts'
import { ErrorAlert } from '../../parts/states.tsx'
import { plural } from '../../parts/texts.tsx'
import type { Campaign } from './campaigns.tsx'

type Sample = Preview['sample'][0]

/** Asks what the campaign as it is typed would do, for everyone or for one user. */
export function usePreview(campaign: Campaign) {
  const projectId = useProjectId()
  const may = useHasRole('editor')
  const [user, setUser] = useSessionState('preview as', '')
  const [properties, setProperties] = useSessionState(`preview properties ${campaign.campaign_id ?? ''}`, '{}')
  const [asked] = useDebouncedValue({ campaign, user, properties: objectOr(properties, {}) }, 400)
  const { data, error } = useQuery({
    queryKey: ['preview', projectId, asked],
    queryFn: ({ signal }) =>
      project<Preview>(projectId, 'POST', '/campaigns:preview', {
        body: {
          // It can be shown before it has a name.
          campaign: { ...asked.campaign, name: asked.campaign.name || 'Untitled' },
          audience: asked.user ? { targets: [{ project_user_id: asked.user }] } : { broadcast: true },
          properties: asked.properties
        },
        signal
      }),
    // A form that is still empty is no mistake.
    enabled:
      may && Boolean(asked.campaign.message?.title || asked.campaign.message?.body || asked.campaign.live_activity),
    retry: false,
    placeholderData: (before) => before
  })
  return { data, error, user, setUser, properties, setProperties }
}

/** What it would do, before it does it: how many, and how it reads on a phone. `campaignId` where it is saved so. */
export function CampaignPreview({
  preview: { data, error, user, setUser, properties, setProperties },
  campaignId
}: {
  preview: ReturnType<typeof usePreview>
  campaignId: string | undefined
}) {
  const may = useHasRole('editor')
  if (!may) return <Text c="dimmed">View only: previews need the editor role.</Text>
  const [first] = data?.sample ?? []
  const refused = error instanceof ApiError && error.status === 400
  return (
    <Stack pos="sticky" top={72} component="section" aria-label="Preview">
      <Title order={2} size="h4">
        Preview
      </Title>
      <TextInput
        label="Preview as"
        placeholder="Any user in the audience"
        value={user}
        error={fieldError(error, 'audience.targets[0].project_user_id') ?? fieldError(error, 'audience')}
        onChange={({ currentTarget }) => setUser(currentTarget.value)}
      />
      <JsonInput
        label="Trigger properties"
        description="Values for {{ trigger.* }}"
        value={properties}
        onChange={setProperties}
        error={errorText(readObject(properties)) ?? fieldError(error, 'properties')}
        autosize
        minRows={1}
      />
      {!data && !error && <Text c="dimmed">Enter a title or body to see a preview.</Text>}
      {error && !refused && <ErrorAlert error={error} />}
      {refused && <Text role="status">Fix this to preview: {error.message}</Text>}
      {data && !refused && (
        <>
          <Audience {...data.audience} />
          {first ? <Shown {...first} /> : <Text c="dimmed">No matching user</Text>}
        </>
      )}
      {first && (campaignId ? <TestSend campaignId={campaignId} deviceId={first.device_id} /> : <SaveFirst />)}
    </Stack>
  )
}

const reasons = new Map([
  ['missing_trigger_property', 'The audience uses a trigger property that has no value, so it matches nobody.']
])

/** How many, and who not. */
export const Audience = ({ users, devices, complete, reason, skipped }: Preview['audience']) => (
  <div role="status">
    <Text>
      Would reach {complete ? '' : 'at least '}
      <b data-audience="users">{plural(users, 'user')}</b> on <b>{plural(devices, 'device')}</b>.
    </Text>
    {reason && <Text size="sm">{reasons.get(reason) ?? `Partial count: ${reason}`}</Text>}
    {Object.entries(skipped).map(([why, count]) => (
      <Text key={why} size="sm">
        {count} excluded: {why.replaceAll('_', ' ')}
      </Text>
    ))}
  </div>
)

const Shown = ({ platform, project_user_id, content, reason, payload_bytes }: Sample) => (
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

const SaveFirst = () => (
  <Text size="sm" c="dimmed">
    Save to send a test.
  </Text>
)

function TestSend({ campaignId, deviceId }: { campaignId: string; deviceId: string }) {
  const projectId = useProjectId()
  const may = useHasRole('editor')
  const send = useMutation({
    mutationFn: () =>
      project<{ delivery_results: { additional_params: { failure_reason: string } }[] }>(
        projectId,
        'POST',
        `/campaigns/${encodeURIComponent(campaignId)}:test`,
        { body: { device_ids: [deviceId] } }
      )
  })
  if (!may) return null
  const failure = send.data?.delivery_results[0]?.additional_params.failure_reason
  return (
    <Group>
      <Button variant="light" size="xs" loading={send.isPending} onClick={() => send.mutate()}>
        Send test to this device
      </Button>
      {send.isSuccess && <Text role="status">{failure || 'Sent.'}</Text>}
      {send.error && <ErrorAlert error={send.error} />}
    </Group>
  )
}
