import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Campaign, Preview } from '../../../../../wire.ts'
import { project } from '../../../api/client.ts'
import { useProjectId } from '../../../api/session.ts'
import { ErrorAlert, Loading } from '../../../parts/states.tsx'
import { plural } from '../../../parts/texts.tsx'
import { Exclusions, usersText } from '../preview/audience-summary.tsx'
import { bestSample, SampleMessage } from '../preview/sample-message.tsx'
import { campaignPath, type TriggerRequest } from './dry-run.ts'

interface Props {
  campaign: Campaign
  /** The trigger to confirm; undefined while the dialog is closed. */
  request: TriggerRequest | undefined
  close: () => void
  send: () => void
  isSending: boolean
  error: Error | null
}

/** Asks before a broadcast, with its number as of now and a rendered sample. */
export function ConfirmSend({ campaign, request, close, send, isSending, error }: Props) {
  const projectId = useProjectId()
  const { data, ...query } = useQuery({
    queryKey: ['confirm', projectId, campaign.campaign_id, request],
    queryFn: ({ signal }) =>
      project<Preview>(projectId, 'POST', `${campaignPath(campaign)}:preview`, { body: request, signal }),
    enabled: request !== undefined,
    // Counted each time that it is asked: people agree to the number that they see.
    gcTime: 0,
    refetchOnWindowFocus: false,
    retry: false
  })
  const later = request?.send_at !== undefined
  const users = data && usersText(data.audience)
  const sample = data && bestSample(data)
  return (
    <Modal
      opened={request !== undefined}
      onClose={close}
      title={data ? `${later ? 'Schedule for' : 'Send to'} ${users}?` : 'Counting recipients…'}
      centered
    >
      <Stack>
        {!data && !query.error && <Loading label="Counting recipients" />}
        {query.error && <ErrorAlert error={query.error} retry={query.refetch} />}
        {data && (
          <>
            <div>
              <Text>
                “{campaign.name}” goes to {plural(data.audience.devices, 'device')}
                {later ? ' as counted now.' : ' now.'}
              </Text>
              <Exclusions {...data.audience} />
            </div>
            {sample ? <SampleMessage {...sample} /> : <Text c="dimmed">No matching user</Text>}
          </>
        )}
        {error && <ErrorAlert error={error} />}
        <Group justify="end">
          <Button variant="default" onClick={close} data-autofocus>
            Cancel
          </Button>
          <Button loading={isSending} disabled={!data} onClick={send}>
            {later ? 'Schedule' : 'Send'}
            {users && ` ${later ? 'for' : 'to'} ${users}`}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
