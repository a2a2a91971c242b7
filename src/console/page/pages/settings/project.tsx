import { Button, Group, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { project } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { type Project, useHasRole, useIdentity, useProject } from '../../api/session.ts'
import { useSessionState } from '../../parts/session-state.ts'
import { ErrorAlert, Loading } from '../../parts/states.tsx'
import { PauseButton } from '../../shell/paused.tsx'

export function ProjectSettings() {
  const found = useProject()
  return found ? <Form key={found.id} known={found} /> : <Loading />
}

/** What is typed and not saved. A number that was taken out is null: what the plan or the default says. */
type Changes = Partial<Pick<Project, 'name' | 'mode'>> & {
  limits?: Partial<Record<keyof Project['limits'], number | string | null>>
  retention?: Partial<Record<keyof Project['retention'], number | string | null>>
}

const shown = (typed: number | string | null | undefined, known: number) =>
  typed === undefined ? known : (typed ?? '')

function Form({ known }: { known: Project }) {
  const may = useHasRole('admin')
  const mayPause = useHasRole('editor')
  const mayLimit = useIdentity().data?.project_id === null && may
  const queries = useQueryClient()
  const [changes, setChanges] = useSessionState<Changes>('settings', {})
  const wish = { ...known, ...changes }
  const changed = JSON.stringify(changes) !== '{}'
  const save = useMutation({
    mutationFn: () => project(known.id, 'PATCH', '', { body: changes }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['projects'] })
      setChanges({})
    }
  })
  const change = (more: Changes) => {
    if (save.isSuccess) save.reset()
    setChanges({ ...changes, ...more })
  }
  const limit = (name: keyof Project['limits'], label: string, description: string) => (
    <NumberInput
      label={label}
      description={description}
      value={shown(changes.limits?.[name], known.limits[name])}
      error={fieldError(save.error, `limits.${name}`)}
      onChange={(given) => change({ limits: { ...changes.limits, [name]: given === '' ? null : given } })}
      placeholder="Default"
      readOnly={!mayLimit}
      allowDecimal={false}
    />
  )
  const keep = (name: keyof Project['retention'], label: string) => (
    <NumberInput
      label={label}
      value={shown(changes.retention?.[name], known.retention[name])}
      error={fieldError(save.error, `retention.${name}`)}
      onChange={(given) => change({ retention: { ...changes.retention, [name]: given === '' ? null : given } })}
      placeholder="Default"
      readOnly={!may}
      allowDecimal={false}
    />
  )
  return (
    <Stack maw={520}>
      <TextInput
        label="Name"
        value={wish.name}
        onChange={({ currentTarget }) => change({ name: currentTarget.value })}
        readOnly={!may}
        error={fieldError(save.error, 'name')}
      />
      <Select
        label="Mode"
        description="Simulated gateways need no accounts. Live gateways reach real devices."
        data={[
          { value: 'simulator', label: 'Simulator' },
          { value: 'live', label: 'Live' }
        ]}
        value={wish.mode}
        allowDeselect={false}
        onChange={(mode) => mode && change({ mode: mode as Project['mode'] })}
        disabled={!may}
        error={fieldError(save.error, 'mode')}
      />
      {may && !mayLimit && (
        <Text size="sm" c="dimmed">
          Only installation admins can change the plan ({known.plan}) and these limits.
        </Text>
      )}
      {limit(
        'requests_per_second',
        'Requests per second',
        'Applies to secret keys and agents. 0 = unlimited; blank = default.'
      )}
      {limit(
        'client_requests_per_second',
        'Client requests per second',
        'Applies to public keys. 0 = unlimited; blank = default.'
      )}
      {limit(
        'triggers_per_second',
        'Triggers per second',
        'Applies to campaigns. 0 = unlimited; blank = plan default.'
      )}
      {keep('events_days', 'Event retention (days)')}
      {keep('messages_days', 'Message retention (days)')}
      {save.error && <ErrorAlert error={save.error} />}
      {may && (
        <Group>
          <Button onClick={() => save.mutate()} loading={save.isPending}>
            Save
          </Button>
          {changed && (
            <Button
              variant="default"
              onClick={() => {
                setChanges({})
                save.reset()
              }}
            >
              Discard changes
            </Button>
          )}
          {save.isSuccess && <Text role="status">Saved.</Text>}
        </Group>
      )}
      {mayPause && known.paused_at === null && (
        <Group>
          <PauseButton projectId={known.id} />
        </Group>
      )}
    </Stack>
  )
}
