import { Button, Group, List, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Erasure } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { erasureLink } from '../../parts/links.ts'
import { ErrorAlert } from '../../parts/states.tsx'
import { toast } from '../../parts/toasts.tsx'

/**
 * Erases a user with every copy, and opens the receipt. The person types the ID: that of the page, or of a user that was
 * deleted before.
 */
export function EraseUser({ label, userId, done }: { label: string; userId?: string; done?: () => void }) {
  const projectId = useProjectId()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [opened, { open, close }] = useDisclosure()
  const [typed, setTyped] = useState('')
  const erase = useMutation({
    mutationFn: () => project<Erasure>(projectId, 'POST', '/erasures', { body: { project_user_id: typed } }),
    onSuccess: async ({ erasure_id }) => {
      close()
      done?.()
      for (const path of ['/users', '/erasures'])
        await queries.invalidateQueries({ queryKey: ['list', projectId, path] })
      toast('Erased the user')
      void navigate({ to: erasureLink(projectId, erasure_id) })
    }
  })
  return (
    <>
      <Button color="red" variant="light" size="xs" onClick={open}>
        {label}
      </Button>
      <Modal opened={opened} onClose={close} title={`${label}?`} centered>
        <Stack>
          <Consequences />
          <TextInput
            label={userId === undefined ? 'User ID' : `Type ${userId} to confirm`}
            value={typed}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
            dir="auto"
            data-autofocus
          />
          {erase.error && <ErrorAlert error={erase.error} />}
          <Group justify="end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button
              color="red"
              loading={erase.isPending}
              disabled={userId === undefined ? typed === '' : typed !== userId}
              onClick={() => erase.mutate()}
            >
              {label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}

const goes = [
  'The user: properties, preferences, consents, devices, push tokens, events, messages and journeys',
  'Every copy: in stored responses, webhook deliveries, tasks of agents, approvals and audiences of triggers'
]
const remains = [
  'Counts in statistics, which name no one, and a receipt with a hash of the ID',
  'Idempotency keys that callers made of the ID, for hours',
  'Campaigns and segments into which your team wrote the ID, until you change them',
  'Backups and the archive of before, until you delete them'
]

const Consequences = () => (
  <>
    <Points title="Goes for good" points={goes} />
    <Points title="Remains" points={remains} />
    <Text size="sm" c="dimmed">
      The receipt lists what remains, and until when.
    </Text>
  </>
)

const Points = ({ title, points }: { title: string; points: string[] }) => (
  <div>
    <Text fw={600}>{title}</Text>
    <List size="sm">
      {points.map((point) => (
        <List.Item key={point}>{point}</List.Item>
      ))}
    </List>
  </div>
)
