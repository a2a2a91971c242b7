import { Button, Group, TextInput } from '@mantine/core'
import type { Trigger } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { fieldOrFormError } from '../../api/errors.ts'
import { useProjectId } from '../../api/session.ts'
import { useApiForm } from '../../parts/forms/api-form.ts'
import { instantOf, localTimeOf, localZone } from '../../parts/local-time.ts'

/** Moves a trigger that waits for its time to another one. */
export function MoveTrigger({ trigger, moved }: { trigger: Trigger; moved: (trigger: Trigger) => void }) {
  const projectId = useProjectId()
  const { form, sending, onSubmit } = useApiForm({
    initialValues: { send_at: localTimeOf(trigger.send_at ?? trigger.accepted_at) },
    send: ({ send_at }) =>
      project<Trigger>(projectId, 'PATCH', `/api/v1/triggers/${trigger.trigger_id}`, {
        body: { send_at: instantOf(send_at) }
      }),
    onSuccess: moved,
    errors: (error) => ({ send_at: fieldOrFormError(error, 'send_at') })
  })
  return (
    <form onSubmit={onSubmit}>
      <Group align="start">
        <TextInput
          {...form.getInputProps('send_at')}
          label="Send at"
          description={`Local time, ${localZone}`}
          type="datetime-local"
          required
        />
        <Button mt={26} type="submit" variant="light" loading={sending.isPending} disabled={!form.isDirty()}>
          Move
        </Button>
      </Group>
    </form>
  )
}
