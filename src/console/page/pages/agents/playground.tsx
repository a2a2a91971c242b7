import { Alert, Button, Group, JsonInput, SegmentedControl, Select, Stack, Text, Textarea } from '@mantine/core'
import type { Key } from '../../../../wire.ts'
import { ApiError } from '../../api/errors.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useHasRole } from '../../api/session.ts'
import { type Form, useApiForm } from '../../parts/forms/api-form.ts'
import { errorText, readJson } from '../../parts/json.ts'
import { useSessionState } from '../../parts/session-state.ts'
import { ErrorAlert, Loading } from '../../parts/states.tsx'
import { PolicyInWords } from '../settings/policy-words.tsx'
import { SendingBubbles, TaskBubbles } from './chat.tsx'
import { useConversation } from './conversation.ts'
import { Conversations } from './conversations.tsx'
import { QuickAnswers } from './quick-answers.tsx'
import { SkillSelect } from './skill-select.tsx'
import { TextExamples } from './text-examples.tsx'

interface Values {
  format: string
  text: string
  data: string
}

const isRejection = (error: Error) => error instanceof ApiError && error.status > 0 && error.status < 500

const invalid = ({ format, text, data }: Values) =>
  format === 'text' ? (text.trim() === '' ? 'Enter a message.' : undefined) : errorText(readJson(data))

/** A conversation with the agent, as an agent of another system would lead it. */
export function Playground() {
  const canSend = useHasRole('editor')
  const [actingKey, setActingKey] = useSessionState<string | null>('acting key', null)
  const conversation = useConversation(actingKey)
  const { contextId, open, history, tasks, question, sending, say } = conversation
  const {
    form,
    sending: submitting,
    onSubmit
  } = useApiForm({
    initialValues: { format: 'text', text: '', data: '{}' },
    send: async ({ format, text, data }: Values) =>
      say(format === 'text' ? [{ text }] : [{ data: JSON.parse(data) as unknown }]),
    onSuccess: (): void => form.setFieldValue('text', ''),
    // The agent rejects the message as a whole, and there is one field for it.
    errors: (error) => (isRejection(error) ? { text: error.message, data: error.message } : {}),
    draft: { name: 'playground' }
  })
  const answer = (text: string) => {
    form.setValues({ format: 'text', text })
    submitting.mutate({ ...form.getValues(), format: 'text', text })
  }
  return (
    <Stack maw={760}>
      <Conversations open={open} current={contextId} />
      {canSend && <ActingKey value={actingKey} choose={setActingKey} />}
      {contextId !== '' && history.isPending && <Loading />}
      {history.error && <ErrorAlert error={history.error} retry={history.refetch} />}
      <Stack role="log" aria-label="Conversation" gap="md">
        {tasks.map((task) => (
          <TaskBubbles key={task.id} task={task} />
        ))}
        {sending && <SendingBubbles sending={sending} />}
      </Stack>
      {question && !sending && <QuickAnswers task={question} answer={canSend ? answer : undefined} />}
      {tasks.length === 0 && !sending && <TextExamples choose={(text) => form.setValues({ format: 'text', text })} />}
      <form onSubmit={onSubmit}>
        <Stack gap="sm">
          <Composer form={form} answering={question?.state === 'input-required'} />
          <Group>
            <Button
              type="submit"
              loading={submitting.isPending}
              disabled={!canSend || invalid(form.values) !== undefined}
            >
              Send
            </Button>
            {!canSend && <Text size="sm">View only: sending needs the editor role.</Text>}
          </Group>
          {submitting.error && !isRejection(submitting.error) && <ErrorAlert error={submitting.error} />}
        </Stack>
      </form>
    </Stack>
  )
}

function Composer({ form, answering }: { form: Form<Values>; answering: boolean }) {
  const { format } = form.values
  const field = (name: 'text' | 'data') => {
    const { error, ...input } = form.getInputProps(name)
    return { ...input, error: (name === 'data' ? invalid(form.values) : undefined) ?? error, autosize: true }
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
        <Textarea
          label={answering ? 'Your reply' : 'Message'}
          placeholder='Send a push to user ana saying "Hello"'
          {...field('text')}
          minRows={2}
          dir="auto"
        />
      ) : (
        <>
          <SkillSelect data={form.values.data} fill={(data) => form.setFieldValue('data', data)} />
          <JsonInput label="Data" {...field('data')} minRows={6} />
        </>
      )}
    </>
  )
}

/** Chooses whose policy applies: a person has none, and an agent has that of its key. */
function ActingKey({ value, choose }: { value: string | null; choose: (id: string | null) => void }) {
  const canChoose = useHasRole('admin')
  return canChoose ? <KeyChoice value={value} choose={choose} /> : <Text size="sm">You act as yourself.</Text>
}

function KeyChoice({ value, choose }: { value: string | null; choose: (id: string | null) => void }) {
  const { data } = usePagedList<Key>('/keys')
  const keys = data?.pages.flatMap(({ items }) => items).filter(({ kind }) => kind === 'secret') ?? []
  const key = keys.find(({ id }) => id === value)
  return (
    <Stack gap="xs">
      <Select
        label="Act as"
        description="With a key, its policy applies as it does to an agent."
        data={[
          { value: '', label: 'Yourself, without a policy' },
          ...keys.map(({ id, name }) => ({ value: id, label: `Key “${name}”` }))
        ]}
        value={key ? key.id : ''}
        allowDeselect={false}
        onChange={(id) => choose(id || null)}
        maw={420}
      />
      {key && (
        <Alert color="gray" p="xs">
          <PolicyInWords policy={key.policy} />
        </Alert>
      )}
    </Stack>
  )
}
