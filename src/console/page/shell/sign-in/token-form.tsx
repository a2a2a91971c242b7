import { Button, PasswordInput, Stack } from '@mantine/core'
import { fieldOrFormError } from '../../api/errors.ts'
import { signIn } from '../../api/people.ts'
import type { Done } from './done.ts'
import { useSignInForm } from './sign-in-form.ts'

/** Management tokens are for programs; a person uses one until there is an account. */
export function TokenForm({ done }: { done: Done }) {
  const { form, sending, onSubmit } = useSignInForm({
    initialValues: { token: '' },
    send: signIn,
    onSuccess: done,
    errors: (error) => ({ token: fieldOrFormError(error, 'token') })
  })
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        <PasswordInput
          {...form.getInputProps('token')}
          label="Management token"
          placeholder="svc_at_…"
          description="The first one is admin_token in credentials.json in the data folder."
          required
          data-autofocus
        />
        <Button type="submit" variant="default" loading={sending.isPending}>
          Sign in with token
        </Button>
      </Stack>
    </form>
  )
}
