import { Alert, Button, Group, Modal, MultiSelect, NumberInput, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Key, Policy } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { type Form, useApiForm } from '../../parts/forms/api-form.ts'
import { ErrorAlert } from '../../parts/states.tsx'
import { useSkills } from '../agents/skills.ts'
import { PolicyInWords } from './policy-words.tsx'

/** The fields as inputs hold them: an empty one sets no limit. */
interface Values {
  policy: {
    skills: string[]
    max_recipients: number | ''
    max_recipients_per_day: number | ''
    approval_above: number | ''
    confirm_broadcasts: boolean
    dry_run: boolean
    quiet_hours: { from: string; to: string; timezone: string }
  }
}

const valuesOf = (policy: Policy | null): Values => ({
  policy: {
    skills: policy?.skills ?? [],
    max_recipients: policy?.max_recipients ?? '',
    max_recipients_per_day: policy?.max_recipients_per_day ?? '',
    approval_above: policy?.approval_above ?? '',
    confirm_broadcasts: policy?.confirm_broadcasts ?? true,
    dry_run: policy?.dry_run ?? false,
    quiet_hours: policy?.quiet_hours ?? { from: '', to: '', timezone: 'UTC' }
  }
})

const numberOf = (value: number | '') => (value === '' ? null : value)

function policyOf({ policy }: Values): Policy {
  const { skills, max_recipients, max_recipients_per_day, approval_above, quiet_hours, ...switches } = policy
  const quiet = quiet_hours.from !== '' || quiet_hours.to !== ''
  return {
    ...switches,
    skills: skills.length > 0 ? skills : null,
    max_recipients: numberOf(max_recipients),
    max_recipients_per_day: numberOf(max_recipients_per_day),
    approval_above: numberOf(approval_above),
    quiet_hours: quiet ? quiet_hours : null
  }
}

/** A button of a key's row that opens its policy: what an agent may do with the key. */
export function PolicyButton({ of: key, done }: { of: Key; done: () => unknown }) {
  const [opened, { open, close }] = useDisclosure()
  return (
    <>
      <Button size="xs" variant={key.policy === null ? 'default' : 'light'} onClick={open}>
        {key.policy === null ? 'Add policy' : 'Policy'}
      </Button>
      <Modal opened={opened} onClose={close} title={`Policy of “${key.name}”`} size="lg">
        {opened && <PolicyForm of={key} done={() => Promise.resolve(done()).then(close)} />}
      </Modal>
    </>
  )
}

function PolicyForm({ of: { id, policy }, done }: { of: Key; done: () => unknown }) {
  const projectId = useProjectId()
  const save = (given: Policy | null) => project(projectId, 'PATCH', `/keys/${id}`, { body: { policy: given } })
  const { form, sending, onSubmit } = useApiForm({
    initialValues: valuesOf(policy),
    send: (values) => save(policyOf(values)),
    onSuccess: done
  })
  const removing = useApiForm({ initialValues: {}, send: () => save(null), onSuccess: done })
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        <Text size="sm">An agent that uses this key can do no more than this, over A2A, MCP and the REST API.</Text>
        <PolicyFields form={form} />
        <Alert color="gray" title="In words">
          <PolicyInWords policy={policyOf(form.values)} />
        </Alert>
        {(sending.error ?? removing.sending.error) && <ErrorAlert error={(sending.error ?? removing.sending.error)!} />}
        <Group>
          <Button type="submit" loading={sending.isPending}>
            Save policy
          </Button>
          {policy !== null && (
            <Button
              variant="light"
              color="red"
              loading={removing.sending.isPending}
              onClick={() => removing.sending.mutate({})}
            >
              Remove policy
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  )
}

function PolicyFields({ form }: { form: Form<Values> }) {
  const skills = useSkills()
  const number = (name: keyof Values['policy'], label: string, description: string) => (
    <NumberInput {...form.getInputProps(`policy.${name}`)} label={label} description={description} min={0} />
  )
  return (
    <>
      <MultiSelect
        {...form.getInputProps('policy.skills')}
        label="Skills"
        description="None chosen: all of them."
        data={skills.data?.map(({ id, name }) => ({ value: id, label: name })) ?? form.values.policy.skills}
        searchable
        clearable
      />
      {number('approval_above', 'Needs approval above', 'Users. More than this waits for a person. Empty: never.')}
      {number('max_recipients', 'Most recipients of one action', 'Users. Empty: no limit.')}
      {number('max_recipients_per_day', 'Most recipients in 24 hours', 'Users. Empty: no limit.')}
      <Switch
        {...form.getInputProps('policy.confirm_broadcasts', { type: 'checkbox' })}
        label="Confirm broadcasts: the agent previews first and confirms what it saw"
      />
      <Switch {...form.getInputProps('policy.dry_run', { type: 'checkbox' })} label="Dry run: read and preview only" />
      <Group grow align="start">
        <TextInput {...form.getInputProps('policy.quiet_hours.from')} label="Quiet from" placeholder="22:00" />
        <TextInput {...form.getInputProps('policy.quiet_hours.to')} label="Quiet until" placeholder="08:00" />
        <TextInput
          {...form.getInputProps('policy.quiet_hours.timezone')}
          label="Time zone"
          placeholder="Europe/Berlin"
        />
      </Group>
    </>
  )
}
