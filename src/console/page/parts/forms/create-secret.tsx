import { Alert, Button, Group, Modal, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { ErrorAlert } from '../states.tsx'
import { CopyBlock } from '../texts.tsx'
import { type Form, useApiForm } from './api-form.ts'

interface Props<Values, Result> {
  label: string
  /** The noun for the secret: key, token, secret. */
  what: string
  warning: string
  initialValues: Values
  fields: (form: Form<Values>) => ReactNode
  create: (values: Values) => Promise<Result>
  secretOf: (result: Result) => string
  done: () => unknown
  submit?: string
  /** For use in a row of a table. */
  small?: boolean
}

/** A button that opens a form, creates something with a secret, and shows the secret once. */
export function CreateSecret<Values extends object, Result>({
  label,
  what,
  warning,
  initialValues,
  fields,
  create,
  secretOf,
  done,
  submit = 'Create',
  small = false
}: Props<Values, Result>) {
  const [opened, { open, close }] = useDisclosure()
  const { form, sending, onSubmit } = useApiForm({ initialValues, send: create, onSuccess: done })
  const leave = () => {
    close()
    sending.reset()
    form.reset()
  }
  return (
    <Group>
      <Button onClick={open} {...(small && { size: 'xs', variant: 'light' })}>
        {label}
      </Button>
      <Modal opened={opened} onClose={leave} title={label} centered>
        {sending.data !== undefined ? (
          <Stack>
            <Alert color="orange">{warning}</Alert>
            <CopyBlock text={secretOf(sending.data)} label={what} />
            <Button onClick={leave}>Done</Button>
          </Stack>
        ) : (
          <form onSubmit={onSubmit}>
            <Stack>
              {fields(form)}
              {sending.error && <ErrorAlert error={sending.error} />}
              <Button type="submit" loading={sending.isPending}>
                {submit}
              </Button>
            </Stack>
          </form>
        )}
      </Modal>
    </Group>
  )
}
