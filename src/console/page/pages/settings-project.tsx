import { Button, Group, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { project } from '../api.ts'
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
  const number = (label: string, value: number, set: (value: number) => void, description?: string) => (
    <NumberInput
      label={label}
      description={description}
      value={value}
      onChange={(given) => set(Number(given))}
      min={0}
      readOnly={!may}
      allowDecimal={false}
    />
  )
  const limit = (name: keyof Project['limits']) => (value: number) =>
    setWish({ ...wish, limits: { ...wish.limits, [name]: value } })
  const keep = (name: keyof Project['retention']) => (value: number) =>
    setWish({ ...wish, retention: { ...wish.retention, [name]: value } })
  return (
    <Stack maw={520}>
      <TextInput
        label="Name"
        value={wish.name}
        onChange={({ currentTarget }) => setWish({ ...wish, name: currentTarget.value })}
        readOnly={!may}
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
      {number(
        'Requests per second',
        wish.limits.requests_per_second,
        limit('requests_per_second'),
        'Of secret keys. 0: no limit.'
      )}
      {number(
        'Client requests per second',
        wish.limits.client_requests_per_second,
        limit('client_requests_per_second'),
        'Of public keys. 0: no limit.'
      )}
      {number(
        'Triggers per second',
        wish.limits.triggers_per_second,
        limit('triggers_per_second'),
        'Of campaigns. 0: no limit.'
      )}
      {number('Days that events are kept', wish.retention.events_days, keep('events_days'))}
      {number('Days that messages are kept', wish.retention.messages_days, keep('messages_days'))}
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
