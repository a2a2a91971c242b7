import { Alert, Button, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError, project } from '../api.ts'
import { NotificationText } from '../parts/phone.tsx'
import { Failed } from '../parts/states.tsx'
import { useMay, useProjectId } from '../who.ts'
import type { Campaign } from './campaigns.tsx'

interface Preview {
  audience: { users?: number; devices?: number }
  sample: {
    project_user_id: string | null
    device_id: string
    title?: string | null
    body?: string | null
    image_url?: string | null
    payload_bytes?: number
    problem?: string | null
  }[]
}

/** What it would do, before it does it: how many, and how it reads on a phone. */
export function CampaignPreview({ campaign, saved }: { campaign: Campaign; saved: boolean }) {
  const projectId = useProjectId()
  const [user, setUser] = useState('')
  const [asked] = useDebouncedValue({ campaign, user }, 400)
  const preview = useQuery({
    queryKey: ['preview', projectId, asked],
    queryFn: ({ signal }) =>
      project<Preview>(projectId, 'POST', '/campaigns:preview', {
        body: {
          campaign: asked.campaign,
          audience: asked.user ? { targets: [{ project_user_id: asked.user }] } : { broadcast: true }
        },
        signal
      }),
    retry: false,
    placeholderData: (before) => before
  })
  const [first] = preview.data?.sample ?? []
  return (
    <Stack pos="sticky" top={72}>
      <Title order={2} size="h4">
        Preview
      </Title>
      <TextInput
        label="As seen by"
        placeholder="Anyone in the segment"
        value={user}
        onChange={({ currentTarget }) => setUser(currentTarget.value)}
      />
      {preview.error && !(preview.error instanceof ApiError && preview.error.status === 400) && (
        <Failed error={preview.error} />
      )}
      {preview.error instanceof ApiError && preview.error.status === 400 && (
        <Alert color="orange">
          {preview.error.message}
          {preview.error.details.map(({ path, message }) => (
            <Text key={path + message} size="sm">
              {path}: {message}
            </Text>
          ))}
        </Alert>
      )}
      {preview.data && (
        <>
          <Text role="status">
            Would reach <b data-audience="users">{preview.data.audience.users?.toLocaleString()}</b> users on{' '}
            <b>{preview.data.audience.devices?.toLocaleString()}</b> devices.
          </Text>
          {first ? (
            <Paper withBorder p="sm" radius="lg" shadow="sm" aria-label="How it looks">
              <NotificationText {...first} />
              {first.problem && <Text c="red">{first.problem}</Text>}
            </Paper>
          ) : (
            <Text c="dimmed">Nobody to show it for.</Text>
          )}
        </>
      )}
      {saved && first && <TestSend campaignId={campaign.campaign_id!} deviceId={first.device_id} />}
    </Stack>
  )
}

function TestSend({ campaignId, deviceId }: { campaignId: string; deviceId: string }) {
  const projectId = useProjectId()
  const may = useMay('editor')
  const send = useMutation({
    mutationFn: () =>
      project(projectId, 'POST', `/campaigns/${encodeURIComponent(campaignId)}:test`, {
        body: { device_ids: [deviceId] }
      })
  })
  if (!may) return null
  return (
    <Group>
      <Button variant="light" size="xs" loading={send.isPending} onClick={() => send.mutate()}>
        Send a test to this device
      </Button>
      {send.isSuccess && <Text role="status">Sent.</Text>}
      {send.error && <Failed error={send.error} />}
    </Group>
  )
}
