import { Badge, Button, Code, Group, Modal, Stack, Text, Title } from '@mantine/core'
import type { InboxItem } from '../../../../wire.ts'
import { Clip, Lines, When } from '../../parts/texts.tsx'
import { isAccepted } from './inbox.ts'

/** Every request to a simulated gateway, accepted or rejected. */
export const Requests = ({ items, open }: { items: InboxItem[]; open: (item: InboxItem) => void }) => (
  <Stack gap="xs">
    <Title order={2} size="h4">
      Gateway requests
    </Title>
    {items.length === 0 && <Text c="dimmed">No requests yet.</Text>}
    {items.slice(0, 50).map((item) => (
      <Group key={item.id} gap="xs" wrap="nowrap">
        <Badge color={isAccepted(item) ? 'teal' : 'red'} variant="light" w={86} style={{ flexShrink: 0 }}>
          {item.answer.status || 'dropped'}
        </Badge>
        <Text size="sm" w={70}>
          {item.gateway}
        </Text>
        <Button variant="subtle" size="compact-sm" onClick={() => open(item)}>
          <Clip width="40vw">{item.title ?? item.body ?? (item.silent ? 'Silent push' : 'Live Activity')}</Clip>
        </Button>
        <Text size="xs" c="dimmed">
          {item.answer.reason} <When at={item.received_at} />
        </Text>
      </Group>
    ))}
  </Stack>
)

/** One request as the gateway received it. */
export const RequestDetail = ({ item, close }: { item: InboxItem | undefined; close: () => void }) => (
  <Modal opened={item !== undefined} onClose={close} title={item?.title ?? 'Push'} size="lg">
    {item && (
      <Stack gap="xs">
        {item.landing_url && (
          <Text>
            Link: <Code>{item.landing_url}</Code>
          </Text>
        )}
        {item.actions && (
          <Text>
            Buttons:{' '}
            {item.actions.map((title) => (
              <Code key={title} mr={4}>
                {title}
              </Code>
            ))}
          </Text>
        )}
        <Text size="sm">
          Gateway response: {item.answer.status || 'none'} {item.answer.reason}
          {item.answer.gateway_message_id && ` · ID ${item.answer.gateway_message_id}`}
        </Text>
        <Lines>{item.request.path}</Lines>
        <Lines>
          {Object.entries(item.request.headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join('\n')}
        </Lines>
        <Lines>{JSON.stringify(item.request.payload, null, 2)}</Lines>
      </Stack>
    )}
  </Modal>
)
