import { Button, Code, Group, JsonInput, SegmentedControl, Stack, Text, Textarea } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { type Message, stream } from '../agent.ts'
import { Failed } from '../parts/states.tsx'
import { useMay, useProjectId } from '../who.ts'

const example = JSON.stringify(
  { skill: 'send-push-notification', projectUserId: 'demo-user', title: 'Hello', body: 'From an agent' },
  null,
  2
)

interface Update {
  statusUpdate?: { taskId: string; contextId: string; status: { state: string } }
}

/** Sends a message as an agent would, and shows what comes back as it comes. A question is answered by the next message. */
export function Playground() {
  const projectId = useProjectId()
  const may = useMay('editor')
  const [kind, setKind] = useState('text')
  const [text, setText] = useState('Send a push to user demo-user saying "Hello"')
  const [data, setData] = useState(example)
  const [events, setEvents] = useState<unknown[]>([])
  const [open, setOpen] = useState<{ taskId: string; contextId: string }>()
  const stopping = useRef<AbortController>(null)
  const send = useMutation({
    mutationFn: async () => {
      setEvents([])
      stopping.current = new AbortController()
      const parts = kind === 'text' ? [{ text }] : [{ data: JSON.parse(data) as unknown }]
      const message: Message = { messageId: crypto.randomUUID(), role: 'user', parts, ...open }
      await stream(projectId, message, (event) => hear(event), stopping.current.signal)
    }
  })
  const hear = (event: unknown) => {
    setEvents((known) => [...known, event])
    const update = (event as { result?: Update }).result?.statusUpdate
    if (!update) return
    const waits = update.status.state === 'input-required' || update.status.state === 'auth-required'
    setOpen(waits ? { taskId: update.taskId, contextId: update.contextId } : undefined)
  }
  return (
    <Stack maw={720}>
      <SegmentedControl
        aria-label="Kind of message"
        value={kind}
        onChange={setKind}
        data={[
          { value: 'text', label: 'In words' },
          { value: 'data', label: 'As data' }
        ]}
      />
      {kind === 'text' ? (
        <Textarea
          label="Message"
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          autosize
          minRows={2}
        />
      ) : (
        <JsonInput
          label="Data"
          value={data}
          onChange={setData}
          validationError="This is not JSON"
          autosize
          minRows={6}
        />
      )}
      {open && <Text role="status">The agent waits for an answer: the next message goes to the same task.</Text>}
      <Group>
        <Button onClick={() => send.mutate()} loading={send.isPending} disabled={!may}>
          Send
        </Button>
        {open && (
          <Button variant="default" onClick={() => setOpen(undefined)}>
            Begin anew
          </Button>
        )}
      </Group>
      {send.error && <Failed error={send.error} />}
      {events.map((event, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: events are only ever added
        <Code block key={index} data-event={index}>
          {JSON.stringify((event as { result?: unknown }).result ?? event, null, 2)}
        </Code>
      ))}
    </Stack>
  )
}
