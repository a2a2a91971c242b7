import { Button } from '@mantine/core'
import { KeyIcon } from '@primer/octicons-react'
import { useMutation } from '@tanstack/react-query'
import { signInWithPasskey } from '../../api/people.ts'
import { ErrorAlert } from '../../parts/states.tsx'
import type { Done } from './done.ts'

export function PasskeyButton({ done }: { done: Done }) {
  const signing = useMutation({ mutationFn: signInWithPasskey, onSuccess: done })
  return (
    <>
      <Button variant="default" leftSection={<KeyIcon />} loading={signing.isPending} onClick={() => signing.mutate()}>
        Sign in with a passkey
      </Button>
      {signing.error && <ErrorAlert error={signing.error} />}
    </>
  )
}
