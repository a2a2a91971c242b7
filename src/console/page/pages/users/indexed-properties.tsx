import { Autocomplete, Badge, Button, Group, Modal, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { IndexedProperty } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useKnownProperties } from '../../api/properties.ts'
import { useProjectId } from '../../api/session.ts'
import { Loaded } from '../../parts/states.tsx'
import { Clip, DocsLink, plural } from '../../parts/texts.tsx'
import { toast } from '../../parts/toasts.tsx'

const most = 10

/** Admins choose by which properties users are found at once. */
export function IndexedProperties() {
  const [opened, { open, close }] = useDisclosure()
  return (
    <>
      <Button variant="default" onClick={open}>
        Indexed properties
      </Button>
      <Modal opened={opened} onClose={close} title="Indexed properties" centered>
        <Stack>
          <Text size="sm">
            A search by an indexed property is instant, however many users you have. Other properties are searched user
            by user. <DocsLink to="guides/users#indexed-properties" />
          </Text>
          <Chosen />
        </Stack>
      </Modal>
    </>
  )
}

function Chosen() {
  const projectId = useProjectId()
  const queries = useQueryClient()
  const queryKey = ['indexed-properties', projectId]
  const list = useQuery({
    queryKey,
    queryFn: () => project<{ items: IndexedProperty[] }>(projectId, 'GET', '/indexed-properties'),
    refetchInterval: ({ state }) => (state.data?.items.some((item) => item.state === 'building') ? 1_000 : false)
  })
  const call = async (method: 'PUT' | 'DELETE', name: string) => {
    await project(projectId, method, `/indexed-properties/${encodeURIComponent(name)}`)
    await queries.invalidateQueries({ queryKey })
  }
  const remove = useMutation({
    mutationFn: (name: string) => call('DELETE', name),
    onSuccess: (_, name) => toast(`${name} is no longer indexed`, { undo: () => call('PUT', name) })
  })
  return (
    <Loaded query={list}>
      {({ items }) => (
        <Stack>
          {items.length > 0 && (
            <Table aria-label="Indexed properties">
              <Table.Tbody>
                {items.map((item) => (
                  <Table.Tr key={item.name}>
                    <Table.Td>
                      <Clip width={180}>{item.name}</Clip>
                    </Table.Td>
                    <Table.Td>
                      <State {...item} />
                    </Table.Td>
                    <Table.Td ta="end">
                      <Button
                        size="compact-sm"
                        variant="subtle"
                        color="red"
                        aria-label={`Remove index of ${item.name}`}
                        onClick={() => remove.mutate(item.name)}
                      >
                        Remove
                      </Button>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          )}
          {items.length < most ? (
            <AddIndex taken={items.map(({ name }) => name)} add={(name) => call('PUT', name)} />
          ) : (
            <Text size="sm" c="dimmed">
              A project has at most {most} indexed properties.
            </Text>
          )}
        </Stack>
      )}
    </Loaded>
  )
}

const State = ({ state, visited = 0, about }: IndexedProperty) =>
  state === 'ready' ? (
    <Badge color="teal" variant="light">
      Ready
    </Badge>
  ) : (
    <Text size="sm" role="status">
      Building: {about ? `${visited.toLocaleString()} of about ${plural(about, 'user')}` : plural(visited, 'user')}
    </Text>
  )

function AddIndex({ taken, add }: { taken: string[]; add: (name: string) => Promise<void> }) {
  const known = useKnownProperties()
  const [name, setName] = useState('')
  const adding = useMutation({
    mutationFn: () => add(name),
    onSuccess: () => {
      toast(`Indexing ${name}`)
      setName('')
    }
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        adding.mutate()
      }}
    >
      <Group align="end">
        <Autocomplete
          label="Property to index"
          data={known.map((each) => each.name).filter((each) => !taken.includes(each))}
          value={name}
          onChange={setName}
          error={adding.error?.message}
          dir="auto"
          flex={1}
          required
        />
        <Button type="submit" loading={adding.isPending} disabled={name === ''}>
          Index
        </Button>
      </Group>
    </form>
  )
}
