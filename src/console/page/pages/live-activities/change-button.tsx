import { Button, Group, JsonInput, Modal, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ActivityChannel, DeliveryResults } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { useProjectId } from '../../api/session.ts'
import { useApiForm } from '../../parts/forms/api-form.ts'
import { ErrorAlert } from '../../parts/states.tsx'
import { toast } from '../../parts/toasts.tsx'
import { channelsPath } from './path.ts'

interface Values {
  state: string
  verb: 'update' | 'end'
}

/** Changes or ends all Live Activities of a channel. */
export function ChangeButton({ channel, done }: { channel: ActivityChannel; done: () => Promise<void> }) {
  const projectId = useProjectId()
  const [opened, { open, close }] = useDisclosure()
  const initialValues: Values = { state: JSON.stringify(channel.content_state ?? {}, null, 2), verb: 'update' }
  const { form, sending } = useApiForm<Values, void>({
    initialValues,
    send: async ({ state, verb }) => {
      const path = `${channelsPath}/${channel.channel_id}:${verb}`
      const body = { content_state: parsed(state) }
      const { delivery_results } = await project<DeliveryResults>(projectId, 'POST', path, { body })
      const reason = delivery_results[0]?.additional_params.failure_reason
      if (reason) throw new Error(reason)
    },
    onSuccess: async (_, { verb }) => {
      close()
      toast(verb === 'end' ? 'Ended all with one request.' : 'Updated all with one request.')
      await done()
    },
    errors: (error) => ({ state: fieldError(error, 'content_state') })
  })
  const button = (verb: Values['verb'], label: string) => (
    <Button
      {...(verb === 'end' && { color: 'red', variant: 'light' })}
      loading={sending.isPending}
      onClick={() => sending.mutate({ ...form.values, verb })}
    >
      {label}
    </Button>
  )
  return (
    <>
      <Button size="xs" variant="light" onClick={open}>
        Broadcast
      </Button>
      <Modal opened={opened} onClose={close} title="Broadcast a change">
        <Stack gap="sm">
          <JsonInput
            {...form.getInputProps('state')}
            label="State (JSON)"
            autosize
            minRows={4}
            maxRows={16}
            formatOnBlur
          />
          {sending.error && !form.errors.state && <ErrorAlert error={sending.error} />}
          <Group justify="end">
            {button('end', 'End all')}
            {button('update', 'Update all')}
          </Group>
        </Stack>
      </Modal>
    </>
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('The state is not JSON.')
  }
}
