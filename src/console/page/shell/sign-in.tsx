import { Button, Center, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { session } from '../api/client.ts'
import { type Identity, useIdentity } from '../api/session.ts'
import { ErrorAlert, Loading } from '../parts/states.tsx'

/** The sign-in link carries its code behind the #, which browsers do not send to servers and logs. */
function takeCode(): string | undefined {
  const code = new URLSearchParams(location.hash.slice(1)).get('code') ?? undefined
  if (code) history.replaceState(null, '', location.pathname + location.search)
  return code
}

/** Shows the console to a signed-in browser, and the sign-in form to others. */
export function SignedIn({ children }: { children: ReactNode }) {
  const [code] = useState(takeCode)
  const identity = useIdentity()
  const queries = useQueryClient()
  const signIn = useMutation({
    mutationFn: (proof: { token: string } | { code: string }) => session<Identity>('POST', proof),
    onSuccess: (known) => queries.setQueryData(['identity'], known)
  })
  const { mutate } = signIn
  useEffect(() => {
    if (code) mutate({ code })
  }, [code, mutate])
  useEffect(() => {
    const forget = () => void queries.resetQueries({ queryKey: ['identity'] })
    window.addEventListener('signed-out', forget)
    return () => window.removeEventListener('signed-out', forget)
  }, [queries])

  if (identity.data) return children
  if (identity.error) return <ErrorAlert error={identity.error} retry={identity.refetch} />
  if (identity.isPending || signIn.isPending) return <Loading label="Signing in" />
  return <SignInForm signIn={(token) => mutate({ token })} error={signIn.error?.message} />
}

function SignInForm({ signIn, error }: { signIn: (token: string) => void; error: string | undefined }) {
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
