import { Badge, Button, Group, Stack, Text, Title } from '@mantine/core'
import type { InboxItem } from '../../../../wire.ts'
import { Clip, When } from '../../parts/texts.tsx'
import { gatewayNames, isAccepted, subjectOf } from './gateways.ts'

/** Every request to a simulated gateway, accepted or rejected. */
export const Requests = ({ items, show }: { items: InboxItem[]; show: (item: string) => void }) => (
  <Stack gap="xs" component="section" aria-label="Gateway requests">
    <Title order={2} size="h4">
      Gateway requests
    </Title>
    {items.length === 0 && (
      <Text c="dimmed">No requests yet. Each push shows here with its headers, payload and response.</Text>
    )}
    {items.slice(0, 50).map((item) => (
      <RequestLine key={item.id} item={item} show={show} />
    ))}
  </Stack>
)

/** One request on a line; its button shows all of it. */
export const RequestLine = ({ item, show }: { item: InboxItem; show: (item: string) => void }) => (
  <Group gap="xs" wrap="nowrap">
    <Badge color={isAccepted(item) ? 'teal' : 'red'} variant="light" w={86} style={{ flexShrink: 0 }}>
      {item.answer.status || 'dropped'}
    </Badge>
    <Text size="sm" w={76} style={{ flexShrink: 0 }}>
      {gatewayNames[item.gateway]}
    </Text>
    <Button variant="subtle" size="compact-sm" miw={0} onClick={() => show(item.id)}>
      <Clip width="100%">{subjectOf(item)}</Clip>
    </Button>
    <Text size="xs" c="dimmed" truncate>
      {item.answer.reason} <When at={item.received_at} />
    </Text>
  </Group>
)
