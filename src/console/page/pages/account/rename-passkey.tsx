import { Button, Modal, Stack, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Passkey } from '../../../../wire.ts'
import { manage } from '../../api/client.ts'
import { useApiForm } from '../../parts/forms/api-form.ts'
import { ErrorAlert } from '../../parts/states.tsx'
import { toast } from '../../parts/toasts.tsx'

export function RenamePasskey({ passkey: { id, name }, done }: { passkey: Passkey; done: () => unknown }) {
  const [opened, { open, close }] = useDisclosure()
  const { form, sending, onSubmit } = useApiForm({
    initialValues: { name },
    send: (body) => manage('PATCH', `/account/passkeys/${id}`, { body }),
    onSuccess: async () => {
      await done()
      close()
      toast('Passkey renamed')
    }
  })
  return (
    <>
      <Button size="xs" variant="light" onClick={open}>
        Rename
      </Button>
      <Modal opened={opened} onClose={close} title="Rename passkey" centered>
        <form onSubmit={onSubmit}>
          <Stack>
            <TextInput {...form.getInputProps('name')} label="Name" required data-autofocus dir="auto" />
            {sending.error && !form.errors.name && <ErrorAlert error={sending.error} />}
            <Button type="submit" loading={sending.isPending}>
              Save
            </Button>
          </Stack>
        </form>
      </Modal>
    </>
  )
}
