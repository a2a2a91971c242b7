import { Button, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import { fieldError } from '../../api/errors.ts'
import { type Push, sendPush } from '../../api/send-push.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { useApiForm } from '../../parts/forms/api-form.ts'

const item = 'push_notifications[0]'

/** A push from the page itself, to try things without leaving it. */
export function SendPush() {
  const projectId = useProjectId()
  const canSend = useHasRole('editor')
  const { form, sending, onSubmit } = useApiForm<Push, string>({
    initialValues: { user: 'demo-user', title: 'Hello', body: 'It works', image_url: '', landing_url: '' },
    send: (push) => sendPush(projectId, push),
    errors: errorsByField,
    draft: { name: 'push' }
  })
  if (!canSend) return null
  const field = (name: keyof Push, label: string, placeholder?: string) => (
    <TextInput {...form.getInputProps(name)} label={label} size="xs" placeholder={placeholder} />
  )
  const elsewhere = sending.error && fieldError(sending.error, item) === undefined ? sending.error.message : undefined
  return (
    <Paper withBorder p="sm" component="section" aria-label="Send a push">
      <form onSubmit={onSubmit}>
        <Stack gap="xs">
          <Title order={2} size="h5">
            Send a push
          </Title>
          <Group grow gap="xs" align="start">
            {field('user', 'User ID')}
            {field('title', 'Title')}
            {field('body', 'Body')}
          </Group>
          <Group gap="xs" align="start" wrap="nowrap">
            {field('image_url', 'Image URL', 'https://…')}
            {field('landing_url', 'Link', 'https://… or app://…')}
            <Button type="submit" size="xs" mt={21} loading={sending.isPending} style={{ flexShrink: 0 }}>
              Send
            </Button>
          </Group>
          <Text size="sm" role="status">
            {sending.isPending ? '' : (elsewhere ?? sending.data)}
          </Text>
        </Stack>
      </form>
    </Paper>
  )
}

const errorsByField = (error: Error) => ({
  user: fieldError(error, `${item}.target.project_user_id`),
  // An error about the push as a whole means that it has no text.
  title: fieldError(error, `${item}.title`) ?? fieldError(error, item, true),
  body: fieldError(error, `${item}.body`),
  image_url: fieldError(error, `${item}.image_url`),
  landing_url: fieldError(error, `${item}.landing_url`)
})
