import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Consent } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { Panel } from '../../parts/panel.tsx'
import { Loaded } from '../../parts/states.tsx'
import { SimpleTable } from '../../parts/table.tsx'
import { Clip, When } from '../../parts/texts.tsx'

const senders: Record<Consent['via'], string> = {
  public_key: 'An app',
  secret_key: 'A backend',
  agent: 'An agent',
  token: 'A token',
  member: 'A member of the team'
}

export const consentsKey = (projectId: string, userId: string) => ['consents', projectId, userId]

/** The evidence of what the user chose. */
export function Consents({ userId }: { userId: string }) {
  const projectId = useProjectId()
  const consents = useQuery({
    queryKey: consentsKey(projectId, userId),
    queryFn: () =>
      project<{ consents: Consent[] }>(projectId, 'GET', `/api/v1/users/${encodeURIComponent(userId)}/consents`),
    meta: { kinds: ['users'] }
  })
  return (
    <Panel title="Consents">
      <Loaded query={consents}>
        {({ consents: items }) =>
          items.length === 0 ? (
            <Text size="sm" c="dimmed">
              The user has made no choice.
            </Text>
          ) : (
            <Stack gap="xs">
              <Text size="sm" c="dimmed">
                The latest yes and the latest no, as evidence.
              </Text>
              <SimpleTable
                label="Consents"
                items={items}
                keyOf={({ topic, granted }) => `${topic} ${granted}`}
                columns={[
                  { name: 'Topic', show: ({ topic }) => topic ?? 'All messages' },
                  { name: 'Choice', show: ({ granted }) => (granted ? 'Yes' : 'No') },
                  { name: 'When', show: ({ at }) => <When at={at} /> },
                  { name: 'Where', show: ({ source }) => <Clip width={160}>{source ?? '–'}</Clip> },
                  { name: 'Text', show: ({ text }) => <Clip width={200}>{text ?? '–'}</Clip> },
                  { name: 'Sent by', show: ({ via, actor }) => <span title={actor}>{senders[via]}</span> }
                ]}
              />
            </Stack>
          )
        }
      </Loaded>
    </Panel>
  )
}
