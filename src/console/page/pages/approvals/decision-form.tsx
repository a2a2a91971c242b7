import { Button, Group, Stack, Text, Textarea } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Approval } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { Panel } from '../../parts/panel.tsx'
import { ErrorAlert } from '../../parts/states.tsx'
import { plural } from '../../parts/texts.tsx'
import { toast } from '../../parts/toasts.tsx'

type Decision = 'approve' | 'reject'

/** Approves or rejects an action, with a note that the agent reads. */
export function DecisionForm({ approval: { id, recipients } }: { approval: Approval }) {
  const projectId = useProjectId()
  const canDecide = useHasRole('editor')
  const queries = useQueryClient()
  const [note, setNote] = useState('')
  const deciding = useMutation({
    mutationFn: (decision: Decision) =>
      project<Approval>(projectId, 'POST', `/approvals/${id}:${decision}`, { body: note === '' ? {} : { note } }),
    onSuccess: (_, decision) => toast(decision === 'approve' ? 'Approved.' : 'Rejected. The agent reads your note.'),
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ['approval', projectId, id] })
      void queries.invalidateQueries({ queryKey: ['list', projectId, '/approvals'] })
    }
  })
  if (!canDecide) return <Text>View only: a decision needs the editor role.</Text>
  return (
    <Panel title="Decision">
      <Stack maw={560}>
        <Textarea
          label="Note"
          description="Why. The agent reads it."
          value={note}
          maxLength={2_000}
          autosize
          onChange={({ currentTarget }) => setNote(currentTarget.value)}
        />
        {deciding.error && <ErrorAlert error={deciding.error} />}
        <Group>
          <Button color="teal" loading={deciding.isPending} onClick={() => deciding.mutate('approve')}>
            Approve for {plural(recipients, 'user')}
          </Button>
          <Button color="red" variant="light" loading={deciding.isPending} onClick={() => deciding.mutate('reject')}>
            Reject
          </Button>
        </Group>
      </Stack>
    </Panel>
  )
}
