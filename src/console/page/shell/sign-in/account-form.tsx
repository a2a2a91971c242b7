import { Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { canUsePasskeys, makePasskey } from '../../api/passkeys.ts'
import type { NewAccount } from '../../api/people.ts'
import { type Identity, useWays } from '../../api/session.ts'
import { ErrorAlert } from '../../parts/states.tsx'
import type { Done } from './done.ts'
import { useSignInForm } from './sign-in-form.ts'

interface Props {
  /** What the form asks for besides the proof: a reset asks for nothing. */
  asks: ('name' | 'email')[]
  initial?: { name?: string; email?: string }
  label: string
  send: (account: NewAccount) => Promise<Identity>
  /** What the service wants a passkey to sign. */
  passkeyOptions: (account: NewAccount) => Promise<object>
  done: Done
}

/** Asks for a name and for a way to sign in from now on: a password, or a passkey. */
export function AccountForm({ asks, initial, label, send, passkeyOptions, done }: Props) {
  const ways = useWays()
  const passkeys = canUsePasskeys(ways?.passkey)
  const { form, sending } = useSignInForm({
    initialValues: { name: '', email: '', ...initial, password: '', withPasskey: false },
    send: async ({ password, withPasskey, ...who }) =>
      send({
        ...who,
        ...(withPasskey ? { passkey: await makePasskey(await passkeyOptions(who)) } : { password })
      }),
    onSuccess: done
  })
  const submit = (withPasskey: boolean) => {
    form.clearErrors()
    sending.mutate({ ...form.getValues(), withPasskey })
  }
  const waiting = (withPasskey: boolean) => sending.isPending && sending.variables.withPasskey === withPasskey
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        submit(!ways?.password)
      }}
    >
      <Stack>
        {asks.includes('name') && (
          <TextInput {...form.getInputProps('name')} label="Your name" autoComplete="name" required autoFocus />
        )}
        {asks.includes('email') && (
          <TextInput
            {...form.getInputProps('email')}
            label="Email"
            type="email"
            autoComplete="username"
            description="You sign in with it. The service sends no mail."
            required
          />
        )}
        {ways?.password && (
          <PasswordInput
            {...form.getInputProps('password')}
            label="Password"
            autoComplete="new-password"
            description="At least 12 characters."
          />
        )}
        {sending.error && <ErrorAlert error={sending.error} />}
        {ways?.password && (
          <Button type="submit" loading={waiting(false)}>
            {label}
          </Button>
        )}
        {passkeys && (
          <Button
            variant={ways?.password ? 'default' : 'filled'}
            type={ways?.password ? 'button' : 'submit'}
            loading={waiting(true)}
            {...(ways?.password && { onClick: () => submit(true) })}
          >
            {label} with a passkey
          </Button>
        )}
      </Stack>
    </form>
  )
}
