import { Alert, Anchor, Badge, Group, Modal, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { InboxItem } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { messageLink } from '../../parts/links.ts'
import { ErrorAlert, Loading } from '../../parts/states.tsx'
import { Lines, When } from '../../parts/texts.tsx'
import { gatewayNames, isAccepted, subjectOf } from './gateways.ts'

/** What the gateway saw of one push: the request, the response and the time between. */
export function RequestDetail({ id, close }: { id: string | undefined; close: () => void }) {
  const projectId = useProjectId()
  const item = useQuery({
    queryKey: ['request', projectId, id],
    queryFn: () => project<InboxItem>(projectId, 'GET', `/simulator/inbox/${encodeURIComponent(id!)}`),
    enabled: id !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false
  })
  const title = item.data ? `Gateway request: ${subjectOf(item.data).slice(0, 80)}` : 'Gateway request'
  return (
    <Modal opened={id !== undefined} onClose={close} title={title} size="lg">
      {item.error ? <ErrorAlert error={item.error} /> : item.data ? <Request item={item.data} /> : <Loading />}
    </Modal>
  )
}

/** One request as the gateway received it. */
function Request({ item }: { item: InboxItem }) {
  const projectId = useProjectId()
  const { gateway, request, answer, message_id, received_at, landing_url, device_id } = item
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Badge variant="light">{gatewayNames[gateway]}</Badge>
        <Badge color={isAccepted(item) ? 'teal' : 'red'} variant="light">
          {answer.status || 'No response'} {answer.reason}
        </Badge>
        <Text size="sm">
          <When at={received_at} />
          {typeof answer.took_ms === 'number' && ` · responded in ${answer.took_ms} ms`}
        </Text>
      </Group>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {device_id && <>Device {device_id} · </>}
        {landing_url && <>Link {landing_url} · </>}
        {message_id ? (
          <Anchor component={Link} to={messageLink(projectId, message_id)}>
            Message
          </Anchor>
        ) : (
          'No message ID'
        )}
      </Text>
      {answer.detail && <Alert color="orange">{answer.detail}</Alert>}
      <Part title="Request">
        <Lines>{`${request.method} ${request.path}\n${headersOf(item)}`}</Lines>
      </Part>
      <Part title="Payload">
        <Lines>{JSON.stringify(request.payload, null, 2)}</Lines>
      </Part>
      <Part title="Response">
        <Lines>
          {[
            `${answer.status || 'none'} ${answer.reason ?? ''}`.trim(),
            answer.gateway_message_id && `ID ${answer.gateway_message_id}`,
            answer.body
          ]
            .filter(Boolean)
            .join('\n')}
        </Lines>
      </Part>
    </Stack>
  )
}

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <div>
    <Title order={3} size="h6" mb={4}>
      {title}
    </Title>
    {children}
  </div>
)

/** Credentials are not kept; their place is shown. */
const headersOf = ({ gateway, request: { headers } }: InboxItem): string =>
  [`authorization: ${gateway === 'webpush' ? 'vapid' : 'bearer'} ••••••`]
    .concat(Object.entries(headers).map(([name, value]) => `${name}: ${value}`))
    .join('\n')
