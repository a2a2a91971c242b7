import { Button, Stack } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { ErrorAlert } from '../../parts/states.tsx'
import { rpc } from './a2a.ts'

/** Cancels a task, as far as nothing of it was done. */
export function CancelTask({ id }: { id: string }) {
  const projectId = useProjectId()
  const canCancel = useHasRole('editor')
  const queries = useQueryClient()
  const cancel = useMutation({
    mutationFn: () => rpc(projectId, 'CancelTask', { id }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['agent-task', projectId, id] })
  })
  if (!canCancel) return null
  return (
    <Stack gap="xs">
      <Button color="red" variant="light" size="xs" loading={cancel.isPending} onClick={() => cancel.mutate()}>
        Cancel task
      </Button>
      {cancel.error && <ErrorAlert error={cancel.error} />}
    </Stack>
  )
}
