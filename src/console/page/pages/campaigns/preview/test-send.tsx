import { Button, Group, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { DeliveryResults } from '../../../../../wire.ts'
import { project } from '../../../api/client.ts'
import { useProjectId } from '../../../api/session.ts'
import { ErrorAlert } from '../../../parts/states.tsx'

/** The text that a test sends. Absent: the one that the device would get. */
export interface TestedText {
  step?: string
  variant?: string
  language?: string
}

/** A button that sends the saved campaign to one device now. */
export function TestSend({
  campaignId,
  deviceId,
  properties,
  text = {}
}: {
  campaignId: string
  deviceId: string
  properties: Record<string, unknown>
  text?: TestedText
}) {
  const projectId = useProjectId()
  const path = `/campaigns/${encodeURIComponent(campaignId)}:test`
  const send = useMutation({
    mutationFn: () =>
      project<DeliveryResults>(projectId, 'POST', path, { body: { device_ids: [deviceId], properties, ...text } })
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
