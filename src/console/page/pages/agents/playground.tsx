import { Anchor, Button, Group, JsonInput, Paper, SegmentedControl, Stack, Text, Textarea } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { newId } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { type Form, useApiForm } from '../../parts/forms/api-form.ts'
import { errorText, readJson } from '../../parts/json.ts'
import { taskLink } from '../../parts/links.ts'
import { ErrorAlert } from '../../parts/states.tsx'
import { Lines } from '../../parts/texts.tsx'
import { type Message, stateOf, stream } from './a2a.ts'
import { SkillSelect } from './skill-select.tsx'
import { TaskState } from './task-state.tsx'

interface Values {
  format: string
  text: string
  data: string
}

interface Update {
  statusUpdate?: { taskId: string; contextId: string; status: { state: string; message?: Message } }
}

const updateOf = (event: unknown) => (event as { result?: Update }).result?.statusUpdate

/** The form, the events of the last stream, and the task that waits for a reply. */
function usePlayground() {
  const projectId = useProjectId()
  const [events, setEvents] = useState<unknown[]>([])
  const [open, setOpen] = useState<{ taskId: string; contextId: string }>()
  const receive = (event: unknown) => {
    setEvents((known) => [...known, event])
    const update = updateOf(event)
    if (!update) return
    const waits = update.status.state === 'input-required' || update.status.state === 'auth-required'
    setOpen(waits ? { taskId: update.taskId, contextId: update.contextId } : undefined)
  }
  const send = async ({ format, text, data }: Values) => {
    setEvents([])
    const parts = format === 'text' ? [{ text }] : [{ data: JSON.parse(data) as unknown }]
    await stream(projectId, { messageId: newId(), role: 'user', parts, ...open }, receive)
  }
  const playground = useApiForm({
    initialValues: { format: 'text', text: 'Send a push to user demo-user saying "Hello"', data: '{}' },
    send,
    // The agent rejects the message as a whole, and there is one field for it.
    errors: (error) => (isRejection(error) ? { text: error.message, data: error.message } : {}),
    draft: { name: 'playground' }
  })
  return { ...playground, events, open, startOver: () => setOpen(undefined) }
}

const isRejection = (error: Error) => error instanceof ApiError && error.status > 0 && error.status < 500

const invalid = ({ format, text, data }: Values) =>
  format === 'text' ? (text.trim() === '' ? 'Enter a message.' : undefined) : errorText(readJson(data))

/** Sends a message as an agent would, and shows each event of the response as it arrives. */
export function Playground() {
  const projectId = useProjectId()
  const canSend = useHasRole('editor')
  const { form, sending, onSubmit, events, open, startOver } = usePlayground()
  const taskId = events.map(updateOf).findLast((update) => update !== undefined)?.taskId
  return (
    <form onSubmit={onSubmit}>
      <Stack maw={720}>
        <MessageField form={form} />
        {open && <Text role="status">Waiting for your reply. Your next message continues this task.</Text>}
        <Group>
          <Button type="submit" loading={sending.isPending} disabled={!canSend || invalid(form.values) !== undefined}>
            Send
          </Button>
          {open && (
            <Button variant="default" onClick={startOver}>
              Start over
            </Button>
          )}
        </Group>
        {sending.error && !isRejection(sending.error) && <ErrorAlert error={sending.error} />}
        {events.map((event, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: events are only ever added
          <StreamEvent key={index} event={event} />
        ))}
        {!sending.isPending && taskId && (
          <Text role="status">
            Stream ended.{' '}
            <Anchor component={Link} to={taskLink(projectId, taskId)}>
              View task
            </Anchor>
          </Text>
        )}
      </Stack>
    </form>
  )
}

function MessageField({ form }: { form: Form<Values> }) {
  const { format } = form.values
  const field = (name: 'text' | 'data') => {
    const { error, ...input } = form.getInputProps(name)
    return { ...input, error: invalid(form.values) ?? error, autosize: true }
  }
  return (
    <>
      <SegmentedControl
        {...form.getInputProps('format', { withError: false, withFocus: false })}
        aria-label="Message format"
        data={[
          { value: 'text', label: 'Text' },
          { value: 'data', label: 'JSON' }
        ]}
      />
      {format === 'text' ? (
        <Textarea label="Message" {...field('text')} minRows={2} />
      ) : (
        <>
          <SkillSelect data={form.values.data} fill={(data) => form.setFieldValue('data', data)} />
          <JsonInput label="Data" {...field('data')} minRows={6} />
        </>
      )}
    </>
  )
}

/** One event of the stream: its state, its message and its JSON. */
function StreamEvent({ event }: { event: unknown }) {
  const update = updateOf(event)
  const message = update?.status.message?.parts.map(({ text }) => text).join(' ')
  return (
    <Paper withBorder p="xs" data-event={update?.status.state ?? 'other'}>
      <Group gap="xs">
        {update && <TaskState state={stateOf(update)} />}
        {message && <Text size="sm">{message}</Text>}
      </Group>
      <Lines mt="xs">{JSON.stringify((event as { result?: unknown }).result ?? event, null, 2)}</Lines>
    </Paper>
  )
}
