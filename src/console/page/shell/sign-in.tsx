import { Button, Center, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { session } from '../api/client.ts'
import { type Identity, useIdentity } from '../api/session.ts'
import { ErrorAlert, Loading } from '../parts/states.tsx'

/** The printed link carries its code behind the #, which no server and no log ever sees. */
function takeCode(): string | undefined {
  const code = new URLSearchParams(location.hash.slice(1)).get('code') ?? undefined
  if (code) history.replaceState(null, '', location.pathname + location.search)
  return code
}

/** Shows the console to whoever is signed in, and the door to everyone else. */
export function SignedIn({ children }: { children: ReactNode }) {
  const [code] = useState(takeCode)
  const who = useIdentity()
  const queries = useQueryClient()
  const signIn = useMutation({
    mutationFn: (proof: { token: string } | { code: string }) => session<Identity>('POST', proof),
    onSuccess: (known) => queries.setQueryData(['who'], known)
  })
  const { mutate } = signIn
  useEffect(() => {
    if (code) mutate({ code })
  }, [code, mutate])
  useEffect(() => {
    const leave = () => void queries.resetQueries({ queryKey: ['who'] })
    window.addEventListener('signed-out', leave)
    return () => window.removeEventListener('signed-out', leave)
  }, [queries])

  if (who.data) return children
  if (who.error) return <ErrorAlert error={who.error} again={who.refetch} />
  if (who.isPending || signIn.isPending) return <Loading label="Signing in" />
  return (
    <Center mih="100vh" p="md" component="main">
      <Paper withBorder p="xl" w={420} maw="100%">
        <form
          onSubmit={(event) => {
            event.preventDefault()
            signIn.mutate({ token: String(new FormData(event.currentTarget).get('token')) })
          }}
        >
          <Stack>
            <Title order={1} size="h3">
              Sign in to Tidings
            </Title>
            <Text size="sm" c="dimmed">
              Open the link printed at the first start or by `tidings console`, or enter a management token. The first
              token is admin_token in credentials.json in the data folder.
            </Text>
            <PasswordInput
              name="token"
              label="Management token"
              placeholder="svc_at_…"
              error={signIn.error?.message}
              required
              autoFocus
            />
            <Button type="submit" loading={signIn.isPending}>
              Sign in
            </Button>
          </Stack>
        </form>
      </Paper>
    </Center>
  )
}
