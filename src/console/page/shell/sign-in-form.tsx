import { Button, Center, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core'
import { useForm } from '@mantine/form'

export function SignInForm({ signIn, error }: { signIn: (token: string) => void; error: string | undefined }) {
  const form = useForm({ initialValues: { token: '' }, initialErrors: { token: error } })
  return (
    <Center mih="100vh" p="md" component="main">
      <Paper withBorder p="xl" w={420} maw="100%">
        <form onSubmit={form.onSubmit(({ token }) => signIn(token))}>
          <Stack>
            <Title order={1} size="h3">
              Sign in to Tidings
            </Title>
            <Text size="sm" c="dimmed">
              Open the link printed at the first start or by `tidings console`, or enter a management token. The first
              token is admin_token in credentials.json in the data folder.
            </Text>
            <PasswordInput
              {...form.getInputProps('token')}
              label="Management token"
              placeholder="svc_at_…"
              required
              autoFocus
            />
            <Button type="submit">Sign in</Button>
          </Stack>
        </form>
      </Paper>
    </Center>
  )
}
