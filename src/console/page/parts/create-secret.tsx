import { Alert, Button, Group, Modal, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { fieldError } from '../api/errors.ts'
import { ErrorAlert } from './states.tsx'
import { CopyBlock } from './texts.tsx'

/** Makes something with a secret that is shown once: a button, a form, and then the secret. */
export function CreateSecret<Result>({
  label,
  what,
  warning,
  fields,
  create,
  secretOf,
  done,
  submit = 'Create',
  small = false
}: {
  label: string
  /** How the secret is called. */
  what: string
  warning: string
  /** The form; `problem` says what is wrong with a field of it. */
  fields: (problem: (field: string) => string | undefined) => ReactNode
  create: (form: FormData) => Promise<Result>
  secretOf: (answer: Result) => string
  done: () => unknown
  submit?: string
  /** For a row of a table. */
  small?: boolean
}) {
  const [opened, { open, close }] = useDisclosure()
  const making = useMutation({ mutationFn: create, onSuccess: done })
  const leave = () => {
    close()
    making.reset()
  }
  const { error } = making
  return (
    <Group>
      <Button onClick={open} {...(small && { size: 'xs', variant: 'light' })}>
        {label}
      </Button>
      <Modal opened={opened} onClose={leave} title={label} centered>
        {making.data !== undefined ? (
          <Stack>
            <Alert color="orange">{warning}</Alert>
            <CopyBlock text={secretOf(making.data)} label={what} />
            <Button onClick={leave}>Done</Button>
          </Stack>
        ) : (
          <form
            onSubmit={(event) => {
              event.preventDefault()
              making.mutate(new FormData(event.currentTarget))
            }}
          >
            <Stack>
              {fields((field) => fieldError(error, field))}
              {error && <ErrorAlert error={error} />}
              <Button type="submit" loading={making.isPending}>
                {submit}
              </Button>
            </Stack>
          </form>
        )}
      </Modal>
    </Group>
  )
}
