import { ActionIcon, Button, Group, NumberInput, Select, Stack, Switch, Text, TextInput, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import type { Project } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { useHasRole, useProject } from '../../api/session.ts'
import { useTopics } from '../../api/topics.ts'
import { type Form, useApiForm } from '../../parts/forms/api-form.ts'
import { QuietHoursFields, usualQuietHours } from '../../parts/forms/quiet-hours-fields.tsx'
import { RemoveIcon } from '../../parts/icons.tsx'
import { ErrorAlert, Loading } from '../../parts/states.tsx'

type Values = Pick<Project, 'message_limits' | 'quiet_hours'>

/** Limits over all campaigns of the project. */
export function SendingLimits() {
  const found = useProject()
  return found ? <LimitsForm key={found.id} known={found} /> : <Loading />
}

function LimitsForm({ known }: { known: Project }) {
  const canEdit = useHasRole('admin')
  const queries = useQueryClient()
  const { form, sending, onSubmit } = useApiForm<Values, Project>({
    initialValues: { message_limits: known.message_limits, quiet_hours: known.quiet_hours },
    send: (body) => project(known.id, 'PATCH', '', { body }),
    onSuccess: async ({ message_limits, quiet_hours }) => {
      form.setInitialValues({ message_limits, quiet_hours })
      form.setValues({ message_limits, quiet_hours })
      await queries.invalidateQueries({ queryKey: ['projects'] })
    },
    errors: () => ({})
  })
  const changed = form.isDirty()
  return (
    <form onSubmit={onSubmit}>
      <Stack maw={720}>
        <Text>Apply to all campaigns of the project, beside a campaign’s own limits. Transactional messages pass.</Text>
        <MessageLimits form={form} error={sending.error} canEdit={canEdit} />
        <QuietHours form={form} error={sending.error} canEdit={canEdit} />
        {sending.error && <ErrorAlert error={sending.error} />}
        {canEdit && (
          <Group>
            <Button type="submit" loading={sending.isPending}>
              Save
            </Button>
            {sending.isSuccess && !changed && <Text role="status">Saved.</Text>}
          </Group>
        )}
      </Stack>
    </form>
  )
}

interface Part {
  form: Form<Values>
  error: Error | null
  canEdit: boolean
}

function MessageLimits({ form, error, canEdit }: Part) {
  const limits = form.values.message_limits
  const topics = (useTopics().data?.items ?? []).map(({ topic: value, name: label }) => ({ value, label }))
  const set = (next: Values['message_limits']) => form.setFieldValue('message_limits', next)
  return (
    <Stack component="section" aria-label="Messages per user" gap="xs">
      <Title order={2} size="h4">
        Messages per user
      </Title>
      {limits.length === 0 && <Text c="dimmed">No limit.</Text>}
      {limits.map(({ topic, ...limit }, index) => {
        const path = `message_limits[${index}]`
        const put = (next: Partial<(typeof limits)[number]>) =>
          set(limits.with(index, { ...limit, ...(topic !== undefined && { topic }), ...next }))
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a limit is identified by its position
          <Group key={index} align="start" gap="xs">
            <NumberInput
              aria-label="Messages"
              w={100}
              min={1}
              value={limit.count}
              error={fieldError(error, `${path}.count`) ?? fieldError(error, path, true)}
              readOnly={!canEdit}
              onChange={(count) => put({ count: Number(count) })}
            />
            <Text mt={6}>every</Text>
            <TextInput
              aria-label="Period"
              w={100}
              value={limit.within}
              error={fieldError(error, `${path}.within`)}
              readOnly={!canEdit}
              onChange={({ currentTarget }) => put({ within: currentTarget.value })}
            />
            <Text mt={6}>of</Text>
            <Select
              aria-label="Topic"
              w={180}
              allowDeselect={false}
              disabled={!canEdit}
              value={topic ?? ''}
              error={fieldError(error, `${path}.topic`)}
              onChange={(next) => set(limits.with(index, next ? { ...limit, topic: next } : limit))}
              data={[{ value: '', label: 'all campaigns' }, ...topics]}
            />
            {canEdit && (
              <ActionIcon
                variant="subtle"
                color="red"
                mt={4}
                aria-label="Remove limit"
                onClick={() => set(limits.toSpliced(index, 1))}
              >
                <RemoveIcon />
              </ActionIcon>
            )}
          </Group>
        )
      })}
      {canEdit && (
        <Button variant="light" size="xs" w="fit-content" onClick={() => set([...limits, { count: 3, within: '24h' }])}>
          Add limit
        </Button>
      )}
    </Stack>
  )
}

function QuietHours({ form, error, canEdit }: Part) {
  const { quiet_hours } = form.values
  const field = (name: string) => ({
    ...form.getInputProps(`quiet_hours.${name}`),
    error: fieldError(error, `quiet_hours.${name}`)
  })
  return (
    <Group align="start">
      <Switch
        mt={8}
        label="Quiet hours"
        checked={quiet_hours !== null}
        disabled={!canEdit}
        onChange={({ currentTarget: { checked } }) =>
          form.setFieldValue('quiet_hours', checked ? { ...usualQuietHours } : null)
        }
      />
      {quiet_hours && <QuietHoursFields field={field} readOnly={!canEdit} />}
    </Group>
  )
}
