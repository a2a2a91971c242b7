import { Button, Group, JsonInput, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { User } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { fieldOrFormError } from '../../api/errors.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { errorText, readObject } from '../../parts/json.ts'
import { When } from '../../parts/texts.tsx'

export function Properties({ user }: { user: User }) {
  const projectId = useProjectId()
  const canEdit = useHasRole('editor')
  const queries = useQueryClient()
  // `from` is the user as it was when the edit began. A refetch meanwhile neither drops the edit nor counts as one.
  const [edit, setEdit] = useState<{ text: string; from: User }>()
  const text = edit?.text ?? JSON.stringify(user.properties, null, 2)
  const save = useMutation({
    mutationFn: async () => {
      const properties = readObject(text)
      if (properties instanceof Error) throw properties
      await saveProperties(projectId, edit?.from ?? user, properties)
      await queries.invalidateQueries({ queryKey: ['user', projectId, user.project_user_id] })
      setEdit(undefined)
    }
  })
  const invalid = errorText(readObject(text))
  return (
    <Stack maw={640}>
      <JsonInput
        label="Properties"
        description={
          canEdit &&
          'Values: text, number, true, false or null. Properties you delete here are removed on save; others are kept.'
        }
        value={text}
        onChange={(typed) => setEdit({ text: typed, from: edit?.from ?? user })}
        error={invalid ?? fieldOrFormError(save.error, 'properties')}
        readOnly={!canEdit || save.isPending}
        autosize
        minRows={6}
        maxRows={24}
        styles={{ input: { fontFamily: 'monospace' } }}
      />
      {canEdit && (
        <Group>
          <Button onClick={() => save.mutate()} loading={save.isPending} disabled={invalid !== undefined}>
            Save
          </Button>
          {save.isSuccess && !edit && <Text role="status">Saved.</Text>}
        </Group>
      )}
      <Text size="sm" c="dimmed">
        Created <When at={user.created_at} /> · Internal ID {user.id}
      </Text>
    </Stack>
  )
}

/** Sends only what differs, so that properties which an app changes at the same time are kept. */
async function saveProperties(projectId: string, user: User, properties: Record<string, unknown>) {
  const path = `/api/v1/users/${encodeURIComponent(user.project_user_id)}`
  const changed = Object.entries(properties).filter(([name, value]) => user.properties[name] !== value)
  const removed = Object.keys(user.properties).filter((name) => !Object.hasOwn(properties, name))
  if (changed.length > 0) await project(projectId, 'PATCH', path, { body: { properties: Object.fromEntries(changed) } })
  if (removed.length > 0) await project(projectId, 'POST', `${path}/properties:remove`, { body: { names: removed } })
}
