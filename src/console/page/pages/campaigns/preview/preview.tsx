import { Button, Group, JsonInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { DeliveryResults } from '../../../../../wire.ts'
import { project } from '../../../api/client.ts'
import { ApiError, fieldError } from '../../../api/errors.ts'
import { useHasRole, useProjectId } from '../../../api/session.ts'
import { errorText, readObject } from '../../../parts/json.ts'
import { ErrorAlert } from '../../../parts/states.tsx'
import type { CampaignDraft } from '../draft.ts'
import { AudienceSummary } from './audience-summary.tsx'
import { CompareButton } from './compare.tsx'
import type { usePreview } from './preview-query.ts'
import { SampleMessage } from './sample-message.tsx'

/** The number of recipients and one rendered message. `campaignId` is given if the campaign is saved as shown. */
export function CampaignPreview({
  preview: { data, error, user, setUser, properties, setProperties },
  draft,
  campaignId
}: {
  preview: ReturnType<typeof usePreview>
  draft: CampaignDraft
  campaignId: string | undefined
}) {
  const canPreview = useHasRole('editor')
  if (!canPreview) return <Text c="dimmed">View only: previews need the editor role.</Text>
  const [first] = data?.sample ?? []
  const rejected = error instanceof ApiError && error.status === 400
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
        label={draft.type === 'event_triggered' ? 'Event properties' : 'Trigger properties'}
        description={draft.type === 'event_triggered' ? 'Values for {{ event.* }}' : 'Values for {{ trigger.* }}'}
        value={properties}
        onChange={setProperties}
        error={errorText(readObject(properties)) ?? fieldError(error, 'properties')}
        autosize
        minRows={1}
      />
      {data?.warnings.map((warning) => (
        <Text key={warning} size="sm">
          {warning}
        </Text>
      ))}
      {!data && !error && <Text c="dimmed">Enter a title or body to see a preview.</Text>}
      {error && !rejected && <ErrorAlert error={error} />}
      {rejected && <Text role="status">Fix this to preview: {error.message}</Text>}
      {data && !rejected && (
        <>
          <AudienceSummary {...data.audience} />
          {first ? <SampleMessage {...first} /> : <Text c="dimmed">No matching user</Text>}
          <CompareButton texts={data.texts} sample={first} />
        </>
      )}
      {first && (campaignId ? <TestSend campaignId={campaignId} deviceId={first.device_id} /> : <SaveFirst />)}
    </Stack>
  )
}

const SaveFirst = () => (
  <Text size="sm" c="dimmed">
    Save to send a test.
  </Text>
)

function TestSend({ campaignId, deviceId }: { campaignId: string; deviceId: string }) {
  const projectId = useProjectId()
  const path = `/campaigns/${encodeURIComponent(campaignId)}:test`
  const send = useMutation({
    mutationFn: () => project<DeliveryResults>(projectId, 'POST', path, { body: { device_ids: [deviceId] } })
  })
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
