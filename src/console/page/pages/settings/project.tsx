import { Button, Group, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import type { Project } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useHasRole, useIdentity, useProject } from '../../api/session.ts'
import { useApiForm } from '../../parts/forms/api-form.ts'
import { readStored, store, useStorageKey } from '../../parts/session-state.ts'
import { ErrorAlert, Loading } from '../../parts/states.tsx'
import { PauseButton } from './pause-button.tsx'
import { type Changes, changesOf, valuesOf } from './project-changes.ts'

export function ProjectSettings() {
  const found = useProject()
  return found ? <ProjectForm key={found.id} known={found} /> : <Loading />
}

/** Keeps only what differs from the saved project, so that changes by other admins appear in the other fields. */
function useProjectForm(known: Project) {
  const queries = useQueryClient()
  const key = useStorageKey('settings')
  const base = useRef(known)
  const { form, sending, onSubmit } = useApiForm({
    initialValues: valuesOf(known, readStored<Changes>(key)),
    send: (values) => project<Project>(known.id, 'PATCH', '', { body: changesOf(values, base.current) }),
    onSuccess: async (saved) => {
      show(saved)
      await queries.invalidateQueries({ queryKey: ['projects'] })
    }
  })
  const changes = changesOf(form.values, base.current)
  const show = (saved: Project, typed?: Changes) => {
    base.current = saved
    form.setValues(valuesOf(saved, typed))
  }
  useEffect(() => store(key, changes))
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a change of the saved project brings in new values
  useEffect(() => {
    if (known !== base.current) show(known, changes)
  }, [known])
  const discard = () => {
    show(known)
    sending.reset()
  }
  return { form, sending, onSubmit, discard, changed: Object.keys(changes).length > 0 }
}

function ProjectForm({ known }: { known: Project }) {
  const canEdit = useHasRole('admin')
  const canPause = useHasRole('editor')
  const canLimit = useIdentity().data?.project_id === null && canEdit
  const { form, sending, onSubmit, discard, changed } = useProjectForm(known)
  const number = (path: string, label: string, readOnly: boolean, description?: string) => (
    <NumberInput
      key={path}
      {...form.getInputProps(path)}
      label={label}
      description={description}
      placeholder="Default"
      readOnly={readOnly}
      allowDecimal={false}
    />
  )
  return (
    <form onSubmit={onSubmit}>
      <Stack maw={520}>
        <TextInput {...form.getInputProps('name')} label="Name" readOnly={!canEdit} />
        <Select
          {...form.getInputProps('mode')}
          label="Mode"
          description="Simulated gateways need no accounts. Live gateways reach real devices."
          data={modes}
          allowDeselect={false}
          disabled={!canEdit}
        />
        {canEdit && !canLimit && (
          <Text size="sm" c="dimmed">
            Only installation admins can change the plan ({known.plan}) and these limits.
          </Text>
        )}
        {limits.map(([name, label, description]) => number(`limits.${name}`, label, !canLimit, description))}
        {number('retention.events_days', 'Event retention (days)', !canEdit)}
        {number('retention.messages_days', 'Message retention (days)', !canEdit)}
        {sending.error && <ErrorAlert error={sending.error} />}
        {canEdit && (
          <Group>
            <Button type="submit" loading={sending.isPending}>
              Save
            </Button>
            {changed && (
              <Button variant="default" onClick={discard}>
                Discard changes
              </Button>
            )}
            {sending.isSuccess && !changed && <Text role="status">Saved.</Text>}
          </Group>
        )}
        {canPause && known.paused_at === null && (
          <Group>
            <PauseButton projectId={known.id} />
          </Group>
        )}
      </Stack>
    </form>
  )
}

const modes = [
  { value: 'simulator', label: 'Simulator' },
  { value: 'live', label: 'Live' }
]

const limits = [
  ['requests_per_second', 'Requests per second', 'Applies to secret keys and agents. 0 = unlimited; blank = default.'],
  [
    'client_requests_per_second',
    'Client requests per second',
    'Applies to public keys. 0 = unlimited; blank = default.'
  ],
  ['triggers_per_second', 'Triggers per second', 'Applies to campaigns. 0 = unlimited; blank = plan default.']
] as const
