import { Button, Group, JsonInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError, project } from '../api.ts'
import { NotificationCard, Screen } from '../parts/phone.tsx'
import { Failed } from '../parts/states.tsx'
import { useMay, useProjectId } from '../who.ts'
import type { Campaign } from './campaigns.tsx'

interface Sample {
  project_user_id: string | null
  device_id: string
  platform: 'IOS' | 'ANDROID' | 'WEB'
  reason: string | null
  content: {
    notification?: { title?: string; body?: string; imageUrl?: string; landingUrl?: string }
    activity?: { attributesType: string; contentState: object }
  } | null
  payload_bytes: number | null
}
interface Preview {
  audience: {
    users: number
    devices: number
    complete: boolean
    reason: string | null
    skipped: Record<string, number>
  }
  sample: Sample[]
}

/** Asks what the campaign as it is typed would do, for everyone or for one user. */
export function usePreview(campaign: Campaign) {
  const projectId = useProjectId()
  const [user, setUser] = useState('')
  const [properties, setProperties] = useState('{}')
  const [asked] = useDebouncedValue({ campaign, user, properties: parsed(properties) }, 400)
  const { data, error } = useQuery({
    queryKey: ['preview', projectId, asked],
    queryFn: ({ signal }) =>
      project<Preview>(projectId, 'POST', '/campaigns:preview', {
        body: {
          // It can be shown before it has a name.
          campaign: { ...asked.campaign, name: asked.campaign.name || 'Untitled' },
          audience: asked.user ? { targets: [{ project_user_id: asked.user }] } : { broadcast: true },
          properties: asked.properties ?? {}
        },
        signal
      }),
    retry: false,
    placeholderData: (before) => before
  })
  return { data, error, user, setUser, properties, setProperties }
}

/** An object of JSON, or undefined. */
export function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** What it would do, before it does it: how many, and how it reads on a phone. `campaignId` where it is saved so. */
export function CampaignPreview({
  preview: { data, error, user, setUser, properties, setProperties },
  campaignId
}: {
  preview: ReturnType<typeof usePreview>
  campaignId: string | undefined
}) {
  const [first] = data?.sample ?? []
  const refused = error instanceof ApiError && error.status === 400
  return (
    <Stack pos="sticky" top={72} component="section" aria-label="Preview">
      <Title order={2} size="h4">
        Preview
      </Title>
      <TextInput
        label="As seen by"
        placeholder="Anyone in the segment"
        value={user}
        onChange={({ currentTarget }) => setUser(currentTarget.value)}
      />
      <JsonInput
        label="Trigger properties"
        description="What {{ trigger.name }} stands for."
        value={properties}
        onChange={setProperties}
        error={parsed(properties) ? undefined : 'This must be an object: { "name": value }'}
        autosize
        minRows={1}
      />
      {error && !refused && <Failed error={error} />}
      {refused && <Text role="status">Something is missing or wrong: {error.message}</Text>}
      {data && !refused && (
        <>
          <Audience {...data.audience} />
          {first ? <Shown {...first} /> : <Text c="dimmed">Nobody to show it for.</Text>}
        </>
      )}
      {first && (campaignId ? <TestSend campaignId={campaignId} deviceId={first.device_id} /> : <SaveFirst />)}
    </Stack>
  )
}

const Audience = ({ users, devices, complete, reason, skipped }: Preview['audience']) => (
  <div role="status">
    <Text>
      Would reach {complete ? '' : 'at least '}
      <b data-audience="users">{users.toLocaleString()}</b> users on <b>{devices.toLocaleString()}</b> devices.
    </Text>
    {reason && <Text size="sm">Not everyone was looked at: {reason}</Text>}
    {Object.entries(skipped).map(([why, count]) => (
      <Text key={why} size="sm">
        {count} left out: {why.replaceAll('_', ' ')}
      </Text>
    ))}
  </div>
)

const Shown = ({ platform, project_user_id, content, reason, payload_bytes }: Sample) => (
  <Stack gap={4}>
    <Screen platform={platform} label={`How it looks to ${project_user_id ?? 'nobody'}`} small>
      {content?.notification && (
        <NotificationCard
          title={content.notification.title}
          body={content.notification.body}
          image_url={content.notification.imageUrl}
        />
      )}
      {content?.activity && (
        <NotificationCard
          title={content.activity.attributesType}
          body={JSON.stringify(content.activity.contentState)}
        />
      )}
    </Screen>
    {content?.notification?.landingUrl && <Text size="sm">Opens {content.notification.landingUrl}</Text>}
    {reason && (
      <Text c="var(--mantine-color-error)" size="sm">
        It would not arrive: {reason}
      </Text>
    )}
    <Text size="xs" c="dimmed">
      {project_user_id ?? 'Somebody who is not logged in'}, {payload_bytes?.toLocaleString() ?? 'no'} bytes
    </Text>
  </Stack>
)

const SaveFirst = () => (
  <Text size="sm" c="dimmed">
    Save it to send a test.
  </Text>
)

function TestSend({ campaignId, deviceId }: { campaignId: string; deviceId: string }) {
  const projectId = useProjectId()
  const may = useMay('editor')
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
        Send a test to this device
      </Button>
      {send.isSuccess && <Text role="status">{failure || 'Sent.'}</Text>}
      {send.error && <Failed error={send.error} />}
    </Group>
  )
}
