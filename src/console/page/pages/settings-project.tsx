import { Button, Group, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { problemAt, project } from '../api.ts'
import { Failed, Waiting } from '../parts/states.tsx'
import { type Project, useMay, useProject } from '../who.ts'

export function ProjectSettings() {
  const found = useProject()
  return found ? <Form key={found.id} known={found} /> : <Waiting />
}

function Form({ known }: { known: Project }) {
  const may = useMay('admin')
  const queries = useQueryClient()
  const [wish, setWish] = useState(known)
  const save = useMutation({
    mutationFn: () => {
      const { name, mode, plan, limits, retention } = wish
      return project(known.id, 'PATCH', '', { body: { name, mode, plan, limits, retention } })
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['projects'] })
  })
  const limit = (name: keyof Project['limits'], label: string, description: string) => (
    <NumberInput
      label={label}
      description={description}
      value={wish.limits[name]}
      error={problemAt(save.error, `limits.${name}`)}
      onChange={(given) => setWish({ ...wish, limits: { ...wish.limits, [name]: Number(given) } })}
      readOnly={!may}
      allowDecimal={false}
    />
  )
  const keep = (name: keyof Project['retention'], label: string) => (
    <NumberInput
      label={label}
      value={wish.retention[name]}
      error={problemAt(save.error, `retention.${name}`)}
      onChange={(given) => setWish({ ...wish, retention: { ...wish.retention, [name]: Number(given) } })}
      readOnly={!may}
      allowDecimal={false}
    />
  )
  return (
    <Stack maw={520}>
      <TextInput
        label="Name"
        value={wish.name}
        onChange={({ currentTarget }) => setWish({ ...wish, name: currentTarget.value })}
        readOnly={!may}
        error={problemAt(save.error, 'name')}
      />
      <Select
        label="Mode"
        description="Simulated gateways need no account anywhere; live ones reach real phones."
        data={[
          { value: 'simulator', label: 'Simulator' },
          { value: 'live', label: 'Live' }
        ]}
        value={wish.mode}
        allowDeselect={false}
        onChange={(mode) => mode && setWish({ ...wish, mode: mode as Project['mode'] })}
        disabled={!may}
      />
      {limit('requests_per_second', 'Requests per second', 'Of secret keys and agents. 0: no limit.')}
      {limit('client_requests_per_second', 'Client requests per second', 'Of public keys. 0: no limit.')}
      {limit('triggers_per_second', 'Triggers per second', 'Of campaigns. 0: no limit.')}
      {keep('events_days', 'Days that events are kept')}
      {keep('messages_days', 'Days that messages are kept')}
      {save.error && <Failed error={save.error} />}
      {may && (
        <Group>
          <Button onClick={() => save.mutate()} loading={save.isPending}>
            Save
          </Button>
          {save.isSuccess && <Text role="status">Saved.</Text>}
        </Group>
      )}
    </Stack>
  )
}
