import { Anchor, Badge, Group, Stack, Text, Timeline } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Event, Journey, MessageEntry } from '../../../../wire.ts'
import { type PagedList, usePagedList } from '../../api/paged-list.ts'
import { useProjectId } from '../../api/session.ts'
import { campaignLink, messageLink } from '../../parts/links.ts'
import { EmptyState, ErrorAlert, Loading } from '../../parts/states.tsx'
import { Clip, When } from '../../parts/texts.tsx'

interface Entry {
  key: string
  at: string
  what: string
  shown: ReactNode
}

const most = 100

/** What happened with the user lately: messages, events and campaigns that it entered, in one list. */
export function Activity({ userId }: { userId: string }) {
  const projectId = useProjectId()
  const of = { project_user_id: userId }
  const messages = usePagedList<MessageEntry>('/api/v1/messages', of)
  const events = usePagedList<Event>('/events', of)
  const journeys = usePagedList<Journey>(`/users/${encodeURIComponent(userId)}/journeys`)
  const lists = [messages, events, journeys]
  const error = lists.find((list) => list.error)?.error
  if (error) return <ErrorAlert error={error} />
  if (lists.some((list) => list.isPending)) return <Loading />
  const parts = [
    entriesOf(messages, (message) => messageEntry(projectId, message)),
    entriesOf(events, eventEntry),
    entriesOf(journeys, (journey) => journeyEntry(projectId, journey))
  ]
  // Before the oldest entry of a list that has more, entries of that list would be missing.
  const since = parts
    .map(({ complete, entries }) => (complete ? '' : entries.at(-1)!.at))
    .reduce((a, b) => (a > b ? a : b))
  const shown = parts
    .flatMap(({ entries }) => entries)
    .filter(({ at }) => at >= since)
    .sort((a, b) => (a.at < b.at ? 1 : -1))
    .slice(0, most)
  if (shown.length === 0)
    return <EmptyState title="No activity yet">Messages, events and campaigns of this user appear here.</EmptyState>
  return (
    <Stack maw={720}>
      <Timeline active={shown.length} bulletSize={14} lineWidth={2} aria-label="Activity">
        {shown.map(({ key, at, what, shown: content }) => (
          <Timeline.Item key={key}>
            <Group gap="xs" wrap="nowrap">
              <Badge variant="light" color={colors[what]} tt="none" miw={76}>
                {what}
              </Badge>
              <Text size="sm" component="div" style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
                {content}
              </Text>
            </Group>
            <Text size="xs" c="dimmed" mt={2}>
              <When at={at} />
            </Text>
          </Timeline.Item>
        ))}
      </Timeline>
      <Text size="sm" c="dimmed">
        The newest {shown.length.toLocaleString()}. The tabs Events, Journeys and Messages have all.
      </Text>
    </Stack>
  )
}

const colors: Record<string, string> = { Message: 'indigo', Event: 'teal', Journey: 'grape' }

const entriesOf = <Item,>(list: PagedList<Item>, toEntry: (item: Item) => Entry) => {
  const [first] = list.data?.pages ?? []
  const entries = (first?.items ?? []).map(toEntry)
  return { entries, complete: !first?.next_cursor || entries.length === 0 }
}

const messageEntry = (projectId: string, message: MessageEntry): Entry => ({
  key: `message ${message.message_id} ${message.device_id}`,
  at: message.created_at,
  what: 'Message',
  shown: (
    <Anchor component={Link} to={messageLink(projectId, message.message_id)}>
      <Clip width="100%">{`${message.title ?? message.kind} · ${stateOf(message)}`}</Clip>
    </Anchor>
  )
})

function stateOf({ tapped_at, delivered_at, state }: MessageEntry): string {
  if (tapped_at) return 'tapped'
  return delivered_at ? 'delivered' : state
}

const eventEntry = ({ id, at, name }: Event): Entry => ({
  key: `event ${id}`,
  at,
  what: 'Event',
  shown: <Clip width="100%">{name}</Clip>
})

const journeyEntry = (projectId: string, { journey_id, campaign_id, entered_at, message }: Journey): Entry => ({
  key: `journey ${journey_id}`,
  at: entered_at,
  what: 'Journey',
  shown: (
    <>
      Entered{' '}
      <Anchor component={Link} to={campaignLink(projectId, campaign_id)}>
        {campaign_id}
      </Anchor>
      . {message}
    </>
  )
})
