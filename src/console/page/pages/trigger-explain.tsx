import { Anchor, Badge, Button, Group, List, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { project } from '../api.ts'
import { useProjectId } from '../who.ts'
import { messageLink } from './message-list.tsx'

interface Gate {
  gate: 'audience' | 'user' | 'segment' | 'device' | 'rules' | 'delivery'
  passed: boolean
  reason: string | null
  message: string
}
interface Explanation {
  project_user_id: string
  gates: Gate[]
  devices: { device_id: string; message_id: string | null; state: string; gates: Gate[] }[]
}

const names: Record<Gate['gate'], string> = {
  audience: 'Was the user meant?',
  user: 'Is there such a user?',
  segment: 'Is the user in the segment?',
  device: 'Is there a device?',
  rules: 'Did the rules of the campaign let it pass?',
  delivery: 'Did a gateway take it?'
}

/** Why did X not get it: each gate in order. */
export function Explain({ triggerId }: { triggerId: string }) {
  const projectId = useProjectId()
  const explain = useMutation({
    mutationFn: (userId: string) =>
      project<Explanation>(projectId, 'GET', `/api/v1/triggers/${triggerId}/explain`, {
        query: { project_user_id: userId }
      })
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        explain.mutate(String(new FormData(event.currentTarget).get('user')))
      }}
    >
      <Stack gap="xs">
        <Group align="end">
          <TextInput
            name="user"
            label="Why did a user get it, or not?"
            placeholder="Id of the user"
            error={explain.error?.message}
            required
          />
          <Button type="submit" variant="light" loading={explain.isPending}>
            Explain
          </Button>
        </Group>
        {explain.data && <Explained {...explain.data} />}
      </Stack>
    </form>
  )
}

function Explained({ project_user_id, gates, devices }: Explanation) {
  const projectId = useProjectId()
  return (
    <Stack gap="xs" component="section" aria-label={`Explanation for ${project_user_id}`}>
      <Gates gates={gates} />
      {devices.map(({ device_id, message_id, state, gates: own }) => (
        <div key={device_id}>
          <Title order={3} size="h5">
            {device_id}:{' '}
            {message_id ? (
              <Anchor component={Link} to={messageLink(projectId, message_id)}>
                {state}
              </Anchor>
            ) : (
              'no message'
            )}
          </Title>
          <Gates gates={own} />
        </div>
      ))}
    </Stack>
  )
}

const Gates = ({ gates }: { gates: Gate[] }) => (
  <List type="ordered" size="sm" spacing={4}>
    {gates.map(({ gate, passed, reason, message }) => (
      <List.Item key={gate} data-gate={gate}>
        <Group gap="xs">
          <Badge color={passed ? 'teal' : 'red'} variant="light">
            {passed ? 'yes' : 'no'}
          </Badge>
          <Text size="sm" fw={500}>
            {names[gate]}
          </Text>
          <Text size="sm">{message}</Text>
          {reason && (
            <Text size="sm" c="dimmed">
              {reason}
            </Text>
          )}
        </Group>
      </List.Item>
    ))}
  </List>
)
