import { Anchor, Badge, Button, Group, List, Stack, Text, TextInput, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Explanation, Gate } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { messageLink, userLink } from '../../parts/links.ts'
import { Clip } from '../../parts/texts.tsx'
import { useUrlState } from '../../parts/url-state.ts'

type Condition = NonNullable<Gate['conditions']>[number]

const names: Record<Gate['gate'], string> = {
  project: 'Is the project running?',
  schedule: 'Time',
  audience: 'Was the user targeted?',
  user: 'Does the user exist?',
  segment: 'Is the user in the segment?',
  device: 'Does the user have a device?',
  rules: 'Did it pass campaign limits?',
  delivery: 'Did a gateway accept it?'
}

/** Explains why a user did or did not receive the message, check by check. The URL names the user, so it can be shared. */
export function Explain({ triggerId }: { triggerId: string }) {
  const projectId = useProjectId()
  const [user, setUser] = useUrlState('explain')
  const explain = useQuery({
    queryKey: ['explain', projectId, triggerId, user],
    queryFn: () =>
      project<Explanation>(projectId, 'GET', `/api/v1/triggers/${triggerId}/explain`, {
        query: { project_user_id: user }
      }),
    enabled: user !== '',
    retry: false
  })
  const form = useForm({ initialValues: { user } })
  return (
    <form
      onSubmit={form.onSubmit((values) => {
        if (values.user === user) void explain.refetch()
        else setUser(values.user)
      })}
    >
      <Stack gap="xs">
        <Group align="end">
          <TextInput
            {...form.getInputProps('user')}
            label="Why did a user receive this, or not?"
            placeholder="User ID"
            error={explain.error?.message}
            required
          />
          <Button type="submit" variant="light" loading={explain.isFetching}>
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
      <Title order={2} size="h5">
        <Anchor component={Link} to={userLink(projectId, project_user_id)}>
          <Clip>{project_user_id}</Clip>
        </Anchor>
      </Title>
      <Gates gates={gates} />
      {devices.map(({ device_id, message_id, state, gates: own }) => (
        <div key={device_id}>
          <Title order={3} size="h5">
            <Clip>{device_id}</Clip>:{' '}
            {message_id ? (
              <Anchor component={Link} to={messageLink(projectId, message_id)}>
                {state}
              </Anchor>
            ) : (
              'No message'
            )}
          </Title>
          <Gates gates={own} />
        </div>
      ))}
    </Stack>
  )
}

const YesNo = ({ passed }: { passed: boolean }) => (
  <Badge color={passed ? 'teal' : 'red'} variant="light" miw={40} style={{ flexShrink: 0 }}>
    {passed ? 'yes' : 'no'}
  </Badge>
)

const Gates = ({ gates }: { gates: Gate[] }) => (
  <List type="ordered" size="sm" spacing={6}>
    {gates.map(({ gate, passed, reason, message, conditions }) => (
      <List.Item key={gate} data-gate={gate} styles={{ itemWrapper: { display: 'block' } }}>
        <Group gap="xs" wrap="nowrap" align="start">
          <YesNo passed={passed} />
          <div style={{ minWidth: 0 }}>
            <Text size="sm" fw={500}>
              {names[gate]}
            </Text>
            <Text size="sm" title={reason ?? undefined} style={{ overflowWrap: 'anywhere' }}>
              {message}
            </Text>
            {conditions && <Conditions conditions={conditions} />}
          </div>
        </Group>
      </List.Item>
    ))}
  </List>
)

/** Each condition of the segment with the value that the user has now. */
const Conditions = ({ conditions }: { conditions: Condition[] }) => (
  <List listStyleType="none" size="sm" spacing={2} mt={4} aria-label="Conditions">
    {conditions.map(({ passed, message, conditions: inner }, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: a condition is identified by its position
      <List.Item key={index} data-condition={passed ? 'yes' : 'no'} styles={{ itemWrapper: { display: 'block' } }}>
        <Group gap="xs" wrap="nowrap" align="start">
          <YesNo passed={passed} />
          <div style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
            {message}
            {inner && <Conditions conditions={inner} />}
          </div>
        </Group>
      </List.Item>
    ))}
  </List>
)
