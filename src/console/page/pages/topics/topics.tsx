import { Group, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { project } from '../../api/client.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { useTopics } from '../../api/topics.ts'
import { ConfirmButton } from '../../parts/forms/confirm-button.tsx'
import { PageLayout } from '../../parts/page.tsx'
import { EmptyState, Loaded } from '../../parts/states.tsx'
import { SimpleTable } from '../../parts/table.tsx'
import { TopicButton } from './topic-form.tsx'

export function Topics() {
  const projectId = useProjectId()
  const canEdit = useHasRole('editor')
  const queries = useQueryClient()
  const topics = useTopics()
  const renew = () => queries.invalidateQueries({ queryKey: ['topics', projectId] })
  const remove = async (topic: string) => {
    await project(projectId, 'DELETE', `/topics/${topic}`)
    await renew()
  }
  const known = topics.data?.items ?? []
  return (
    <PageLayout
      title="Topics"
      about="Kinds of messages that people can turn off, such as offers or news."
      actions={canEdit && <TopicButton known={known} done={renew} />}
    >
      <Loaded query={topics}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState title="No topics yet">
              Campaigns without a topic reach everyone except people who opted out of all messages.
            </EmptyState>
          ) : (
            <SimpleTable
              label="Topics"
              items={items}
              keyOf={({ topic }) => topic}
              columns={[
                { name: 'Name', show: ({ name }) => name },
                { name: 'ID', show: ({ topic }) => topic },
                { name: 'Description', show: ({ description }) => <Text size="sm">{description || '–'}</Text> },
                { name: 'Without a choice', show: (topic) => topic.default },
                {
                  name: 'Actions',
                  show: (topic) =>
                    canEdit && (
                      <Group gap="xs" wrap="nowrap">
                        <TopicButton of={topic} known={items} done={renew} />
                        <ConfirmButton
                          label="Delete"
                          title={`Delete “${topic.name}”?`}
                          question="People’s choices about this topic are deleted with it."
                          act={() => remove(topic.topic)}
                        />
                      </Group>
                    )
                }
              ]}
            />
          )
        }
      </Loaded>
    </PageLayout>
  )
}
