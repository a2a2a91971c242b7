import { ActionIcon, Button, Group, Spoiler, Stack, Table, Text, TextInput, Tooltip } from '@mantine/core'
import { PencilIcon, TrashIcon } from '@primer/octicons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { User } from '../../../../wire.ts'
import { useHasRole } from '../../api/session.ts'
import { EmptyState, ErrorAlert } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'
import { usePropertyChange } from './property-change.ts'
import { PropertyForm } from './property-form.tsx'
import { kindOf, labelOf, type Value } from './values.ts'

/** A list of this length is found by eye. */
const searchedFrom = 12

/** The properties of a user, one by one. Each change is saved by itself. */
export function Properties({ user }: { user: User }) {
  const canEdit = useHasRole('editor')
  // The open form: the name of a property, or an empty text for a new one.
  const [open, setOpen] = useState<string>()
  const [filter, setFilter] = useState('')
  const names = Object.keys(user.properties).sort((a, b) => a.localeCompare(b))
  const shown = names.filter((name) => name.toLowerCase().includes(filter.toLowerCase()))
  const form = (name?: string) => (
    <PropertyForm
      key={name ?? ''}
      userId={user.project_user_id}
      {...(name !== undefined && { name })}
      now={(each) => (Object.hasOwn(user.properties, each) ? user.properties[each] : undefined)}
      onClose={() => setOpen(undefined)}
    />
  )
  // A property that another person deletes meanwhile keeps its open form.
  const gone = open !== undefined && open !== '' && !names.includes(open)
  return (
    <Stack maw={800}>
      {names.length >= searchedFrom && (
        <TextInput
          label="Find a property"
          value={filter}
          onChange={({ currentTarget }) => setFilter(currentTarget.value)}
          maw={280}
        />
      )}
      {names.length === 0 && open === undefined && (
        <EmptyState title="No properties">
          Properties personalize messages and select audiences, such as plan or city.
        </EmptyState>
      )}
      {shown.length > 0 && (
        <Table aria-label="Properties" layout="fixed">
          <Table.Tbody>
            {shown.map((name) =>
              open === name ? (
                <Table.Tr key={name}>
                  <Table.Th w="30%" style={{ overflowWrap: 'anywhere', verticalAlign: 'top' }} dir="auto">
                    {name}
                  </Table.Th>
                  <Table.Td>{form(name)}</Table.Td>
                </Table.Tr>
              ) : (
                <PropertyRow
                  key={name}
                  userId={user.project_user_id}
                  name={name}
                  value={user.properties[name]!}
                  {...(canEdit && { edit: () => setOpen(name) })}
                />
              )
            )}
          </Table.Tbody>
        </Table>
      )}
      {gone && form(open)}
      {open === '' && form()}
      {canEdit && open !== '' && (
        <Group>
          <Button variant="light" onClick={() => setOpen('')}>
            Add property
          </Button>
        </Group>
      )}
      <Text size="sm" c="dimmed">
        Created <When at={user.created_at} /> · Updated <When at={user.updated_at} /> · Internal ID {user.id}
      </Text>
    </Stack>
  )
}

interface RowProps {
  userId: string
  name: string
  value: Value
  /** Absent for viewers. */
  edit?: () => void
}

function PropertyRow({ userId, name, value, edit }: RowProps) {
  const change = usePropertyChange(userId)
  const remove = useMutation({ mutationFn: () => change(name, value, undefined) })
  const kind = kindOf(value)
  return (
    <Table.Tr>
      <Table.Th w="30%" style={{ overflowWrap: 'anywhere', verticalAlign: 'top' }} dir="auto">
        {name}
      </Table.Th>
      <Table.Td>
        <Group justify="space-between" wrap="nowrap" align="start" gap="xs">
          <div style={{ minWidth: 0 }}>
            <Shown value={value} />
            <Text size="xs" c="dimmed">
              {labelOf(kind)}
            </Text>
            {remove.error && <ErrorAlert error={remove.error} />}
          </div>
          {edit && (
            <Group gap={4} wrap="nowrap">
              <Tooltip label="Edit">
                <ActionIcon variant="subtle" aria-label={`Edit ${name}`} onClick={edit}>
                  <PencilIcon size={16} />
                </ActionIcon>
              </Tooltip>
              <Tooltip label="Delete">
                <ActionIcon
                  variant="subtle"
                  color="red"
                  aria-label={`Delete ${name}`}
                  loading={remove.isPending}
                  onClick={() => remove.mutate()}
                >
                  <TrashIcon size={16} />
                </ActionIcon>
              </Tooltip>
            </Group>
          )}
        </Group>
      </Table.Td>
    </Table.Tr>
  )
}

const Shown = ({ value }: { value: Value }) => {
  if (value === null || value === '')
    return (
      <Text size="sm" c="dimmed">
        Empty
      </Text>
    )
  if (kindOf(value) === 'time') return <When at={value as string} />
  const text = (
    <Text size="sm" dir="auto" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
      {String(value)}
    </Text>
  )
  if (String(value).length < 300) return text
  return (
    <Spoiler maxHeight={80} showLabel="Show all" hideLabel="Show less">
      {text}
    </Spoiler>
  )
}
