import { Stack, Switch, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Preferences as Choices } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { useTopics } from '../../api/topics.ts'
import { ErrorAlert, Loaded } from '../../parts/states.tsx'
import { toast } from '../../parts/toasts.tsx'
import { Consents, consentsKey } from './consents.tsx'

interface Change {
  opted_out?: boolean
  topics?: Record<string, boolean>
}

const withChange = <Before extends Change>(before: Before, { topics, ...rest }: Change) => ({
  ...before,
  ...rest,
  topics: { ...before.topics, ...topics }
})

/** What the user wants to get. Each change is saved at once. */
export function Preferences({ userId }: { userId: string }) {
  const projectId = useProjectId()
  const canEdit = useHasRole('editor')
  const queries = useQueryClient()
  const topics = useTopics()
  const path = `/api/v1/users/${encodeURIComponent(userId)}/preferences`
  const queryKey = ['preferences', projectId, userId]
  const choices = useQuery({ queryKey, queryFn: () => project<Choices>(projectId, 'GET', path) })
  const [source, setSource] = useState('')
  // Not in the cache of queries, which renders a moment later: the switch would jump back until then.
  const [unsaved, setUnsaved] = useState<Change>({})
  const mutationKey = ['change preferences', projectId, userId]
  const change = useMutation({
    mutationKey,
    mutationFn: (change: Change) => {
      const consent = source.trim() === '' ? undefined : { source: source.trim() }
      return project<Choices>(projectId, 'PATCH', path, { body: { ...change, consent } })
    },
    // A response that is under way has the choices before the change.
    onMutate: () => queries.cancelQueries({ queryKey }),
    onSuccess: (next) => {
      queries.setQueryData(queryKey, next)
      toast('Saved preferences')
      void queries.invalidateQueries({ queryKey: consentsKey(projectId, userId) })
    },
    onError: () => queries.invalidateQueries({ queryKey }),
    onSettled: () => queries.isMutating({ mutationKey }) === 1 && setUnsaved({})
  })
  /** A switch moves at once, and back if the service refuses. */
  const save = (changed: Change) => {
    setUnsaved((before) => withChange(before, changed))
    change.mutate(changed)
  }
  return (
    <Loaded query={choices}>
      {(saved) => {
        const { opted_out, topics: chosen } = withChange(saved, unsaved)
        return (
          <Stack maw={720}>
            <Switch
              label="Opted out of all messages"
              description="Only transactional messages are sent to this user."
              checked={opted_out}
              disabled={!canEdit}
              onChange={({ currentTarget: { checked } }) => save({ opted_out: checked })}
            />
            {Object.keys(chosen).length === 0 && <Text c="dimmed">The project has no topics.</Text>}
            {(topics.data?.items ?? []).map(({ topic, name, description, default: initial }) => (
              <Switch
                key={topic}
                label={name}
                description={description || undefined}
                checked={chosen[topic] ?? initial === 'subscribed'}
                disabled={!canEdit}
                onChange={({ currentTarget: { checked } }) => save({ topics: { [topic]: checked } })}
              />
            ))}
            {canEdit && (
              <TextInput
                label="Where the person said so (optional)"
                description="Kept as evidence with the next changes, such as phone call or letter of 3 May."
                value={source}
                maxLength={200}
                onChange={({ currentTarget }) => setSource(currentTarget.value)}
                dir="auto"
              />
            )}
            {change.error && <ErrorAlert error={change.error} />}
            <Consents userId={userId} />
          </Stack>
        )
      }}
    </Loaded>
  )
}
