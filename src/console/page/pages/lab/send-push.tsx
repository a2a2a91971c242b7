import { Button, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { project } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { useSessionState } from '../../parts/session-state.ts'

export interface Push {
  user: string
  title: string
  body: string
  image_url?: string
  landing_url?: string
}

interface Sent {
  delivery_results: { status: string; additional_params: { failure_reason: string } }[]
}

export const sentWell = 'Sent.'

/** Sends a push to one user as a server would, and answers in words what became of it. */
export async function sendPush(projectId: string, { user, ...content }: Push): Promise<string> {
  const filled = Object.fromEntries(Object.entries(content).filter(([, text]) => text !== ''))
  const { delivery_results } = await project<Sent>(projectId, 'POST', '/api/v1/messages:send', {
    body: { push_notifications: [{ target: { project_user_id: user }, ...filled }] }
  })
  const [{ status, additional_params } = { status: '', additional_params: { failure_reason: '' } }] = delivery_results
  if (status.endsWith('SUCCEED')) return sentWell
  return status.endsWith('PENDING')
    ? 'Pending: the send will be retried.'
    : `Not sent: ${additional_params.failure_reason}`
}

/** A push from the page itself, to try things without leaving it. */
export function SendPush() {
  const projectId = useProjectId()
  const may = useHasRole('editor')
  const [push, setPush] = useSessionState<Push>('push', {
    user: 'demo-user',
    title: 'Hello',
    body: 'It works',
    image_url: '',
    landing_url: ''
  })
  const send = useMutation({ mutationFn: () => sendPush(projectId, push) })
  if (!may) return null
  const at = 'push_notifications[0]'
  // What is wrong with the push as a whole is that it says nothing.
  const nothingSaid = fieldError(send.error, at, true)
  const field = (name: keyof Push, label: string, path: string, placeholder?: string) => (
    <TextInput
      label={label}
      size="xs"
      placeholder={placeholder}
      value={push[name]}
      error={fieldError(send.error, `${at}.${path}`) ?? (name === 'title' ? nothingSaid : undefined)}
      onChange={({ currentTarget }) => setPush({ ...push, [name]: currentTarget.value })}
    />
  )
  const elsewhere = send.error && fieldError(send.error, at) === undefined ? send.error.message : undefined
  return (
    <Paper withBorder p="sm" component="section" aria-label="Send a push">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          send.mutate()
        }}
      >
        <Stack gap="xs">
          <Title order={2} size="h5">
            Send a push
          </Title>
          <Group grow gap="xs" align="start">
            {field('user', 'User ID', 'target.project_user_id')}
            {field('title', 'Title', 'title')}
            {field('body', 'Body', 'body')}
          </Group>
          <Group gap="xs" align="start" wrap="nowrap">
            {field('image_url', 'Image URL', 'image_url', 'https://…')}
            {field('landing_url', 'Link', 'landing_url', 'https://… or app://…')}
            <Button type="submit" size="xs" mt={21} loading={send.isPending} style={{ flexShrink: 0 }}>
              Send
            </Button>
          </Group>
          <Text size="sm" role="status">
            {send.isPending ? '' : (elsewhere ?? send.data)}
          </Text>
        </Stack>
      </form>
    </Paper>
  )
}
