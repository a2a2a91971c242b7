import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ErrorAlert } from '../states.tsx'

/** A button that asks before it acts. With `type`, the person must type that text first. */
export function ConfirmButton({
  label,
  title = `${label}?`,
  question,
  keep = 'Cancel',
  type,
  act
}: {
  label: string
  title?: string
  question: string
  /** Label of the button that closes the dialog and changes nothing. */
  keep?: string
  type?: string
  act: () => Promise<unknown>
}) {
  const [opened, { open, close }] = useDisclosure()
  const [typed, setTyped] = useState('')
  const acting = useMutation({ mutationFn: act, onSuccess: close })
  return (
    <>
      <Button color="red" variant="light" size="xs" onClick={open}>
        {label}
      </Button>
      <Modal opened={opened} onClose={close} title={title} centered>
        <Stack>
          <Text>{question}</Text>
          {type !== undefined && (
            <TextInput
              label={`Type ${type} to confirm`}
              value={typed}
              onChange={({ currentTarget }) => setTyped(currentTarget.value)}
              data-autofocus
            />
          )}
          {acting.error && <ErrorAlert error={acting.error} />}
          <Group justify="end">
            <Button variant="default" onClick={close}>
              {keep}
            </Button>
            <Button
              color="red"
              loading={acting.isPending}
              disabled={type !== undefined && typed !== type}
              onClick={() => acting.mutate()}
            >
              {label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
