import { Button, Modal, Select, Stack, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ActivityChannel } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { useApiForm } from '../../parts/forms/api-form.ts'
import { ErrorAlert } from '../../parts/states.tsx'
import { toast } from '../../parts/toasts.tsx'
import { channelsPath } from './path.ts'

export function CreateButton({ done }: { done: () => Promise<void> }) {
  const projectId = useProjectId()
  const [opened, { open, close }] = useDisclosure()
  const { form, sending, onSubmit } = useApiForm({
    initialValues: { attributes_type: '', app: '', push_environment: 'production', storage: 'most_recent' },
    send: ({ app, ...values }) =>
      project<ActivityChannel>(projectId, 'POST', channelsPath, { body: { ...values, ...(app && { app }) } }),
    onSuccess: async () => {
      close()
      form.reset()
      toast('Channel created.')
      await done()
    }
  })
  const field = (name: 'attributes_type' | 'app', label: string, description: string) => (
    <TextInput {...form.getInputProps(name)} label={label} description={description} />
  )
  return (
    <>
      <Button onClick={open}>New channel</Button>
      <Modal opened={opened} onClose={close} title="New channel">
        <form onSubmit={onSubmit}>
          <Stack gap="sm">
            {field('attributes_type', 'Attributes type', 'The Swift type of the attributes, such as MatchAttributes.')}
            {field('app', 'Bundle ID', 'Blank: the app of the only APNs credential.')}
            <Select
              {...form.getInputProps('push_environment')}
              label="Environment"
              allowDeselect={false}
              data={['production', 'sandbox']}
            />
            <Select
              {...form.getInputProps('storage')}
              label="Phones that are offline get"
              allowDeselect={false}
              data={[
                { value: 'most_recent', label: 'The newest change' },
                { value: 'none', label: 'Nothing' }
              ]}
            />
            {sending.error && Object.values(form.errors).every((each) => !each) && <ErrorAlert error={sending.error} />}
            <Button type="submit" loading={sending.isPending}>
              Create
            </Button>
          </Stack>
        </form>
      </Modal>
    </>
  )
}
