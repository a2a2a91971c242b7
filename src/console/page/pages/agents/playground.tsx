import { Anchor, Button, Group, JsonInput, Paper, SegmentedControl, Stack, Text, Textarea } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { newId } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { errorText, readJson } from '../../parts/json.ts'
import { useSessionState } from '../../parts/session-state.ts'
import { ErrorAlert } from '../../parts/states.tsx'
import { Lines } from '../../parts/texts.tsx'
import { type Message, stateOf, stream } from './a2a.ts'
import { TaskState } from './tasks.tsx'

const example = JSON.stringify(
  { skill: 'send-push-notification', projectUserId: 'demo-user', title: 'Hello', body: 'From an agent' },
  null,
  2
)

interface Update {
  statusUpdate?: { taskId: string; contextId: string; status: { state: string; message?: Message } }
}

const updateOf = (event: unknown) => (event as { result?: Update }).result?.statusUpdate

/** An event of the stream: its state, what it says, and all of it. */
function Heard({ event }: { event: unknown }) {
  const update = updateOf(event)
  const said = update?.status.message?.parts.map(({ text }) => text).join(' ')
  return (
    <Paper withBorder p="xs" data-event={update?.status.state ?? 'other'}>
      <Group gap="xs">
        {update && <TaskState state={stateOf(update)} />}
        {said && <Text size="sm">{said}</Text>}
      </Group>
      <Lines mt="xs">{JSON.stringify((event as { result?: unknown }).result ?? event, null, 2)}</Lines>
    </Paper>
  )
}

/** Sends a message as an agent would, and shows what comes back as it comes. A question is answered by the next message. */
export function Playground() {
  const projectId = useProjectId()
  const may = useHasRole('editor')
  const [kind, setKind] = useSessionState('playground kind', 'text')
  const [text, setText] = useSessionState('playground text', 'Send a push to user demo-user saying "Hello"')
  const [data, setData] = useSessionState('playground data', example)
  const [events, setEvents] = useState<unknown[]>([])
  const [open, setOpen] = useState<{ taskId: string; contextId: string }>()
  const stopping = useRef<AbortController>(null)
  const badJson = kind === 'data' ? errorText(readJson(data)) : undefined
  const send = useMutation({
    mutationFn: async () => {
      setEvents([])
      stopping.current = new AbortController()
      const parts = kind === 'text' ? [{ text }] : [{ data: JSON.parse(data) as unknown }]
      const message: Message = { messageId: newId(), role: 'user', parts, ...open }
      await stream(projectId, message, (event) => hear(event), stopping.current.signal)
    }
  })
  // There is one field: what the agent refuses is about that. That it cannot be reached is not.
  const refused = send.error instanceof ApiError && send.error.status > 0 && send.error.status < 500
  const said = refused ? send.error?.message : undefined
  const nothing = kind === 'text' && text.trim() === ''
  const last = events.map(updateOf).findLast((update) => update !== undefined)?.taskId
  const hear = (event: unknown) => {
    setEvents((known) => [...known, event])
    const update = updateOf(event)
    if (!update) return
    const waits = update.status.state === 'input-required' || update.status.state === 'auth-required'
    setOpen(waits ? { taskId: update.taskId, contextId: update.contextId } : undefined)
  }
  return (
    <Stack maw={720}>
      <SegmentedControl
        aria-label="Message format"
        value={kind}
        onChange={setKind}
        data={[
          { value: 'text', label: 'Text' },
          { value: 'data', label: 'JSON' }
        ]}
      />
      {kind === 'text' ? (
        <Textarea
          label="Message"
          value={text}
          error={nothing ? 'Enter a message.' : said}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          autosize
          minRows={2}
        />
      ) : (
        <JsonInput label="Data" value={data} onChange={setData} error={badJson ?? said} autosize minRows={6} />
      )}
      {open && <Text role="status">Waiting for your reply. Your next message continues this task.</Text>}
      <Group>
        <Button
          onClick={() => send.mutate()}
          loading={send.isPending}
          disabled={!may || badJson !== undefined || nothing}
        >
          Send
        </Button>
        {open && (
          <Button variant="default" onClick={() => setOpen(undefined)}>
            Start over
          </Button>
        )}
      </Group>
      {send.error && !refused && <ErrorAlert error={send.error} />}
      {events.map((event, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: events are only ever added
        <Heard key={index} event={event} />
      ))}
      {!send.isPending && last && (
        <Text role="status">
          Stream ended.{' '}
          <Anchor component={Link} to="." search={{ tab: 'tasks', task: last } as never}>
            View task
          </Anchor>
        </Text>
      )}
    </Stack>
  )
}
