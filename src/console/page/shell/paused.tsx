import { Alert, Button, Group, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { project } from '../api/client.ts'
import { useHasRole } from '../api/session.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { ErrorAlert } from '../parts/states.tsx'
import { When } from '../parts/texts.tsx'

/** On every page of a paused project, so that nobody looks for another reason why nothing arrives. */
export function PausedBanner({ projectId, since }: { projectId: string; since: string }) {
  return (
    <Alert color="orange" mb="md" title="Project paused" role="status">
      <Text size="sm" mb="xs">
        Nothing has been sent since <When at={since} />. Pushes and triggers are accepted and queued until you resume
        the project.
      </Text>
      <ResumeButton projectId={projectId} />
    </Alert>
  )
}

function useProjectsAgain() {
  const queries = useQueryClient()
  return () => queries.invalidateQueries({ queryKey: ['projects'] })
}

function ResumeButton({ projectId }: { projectId: string }) {
  const changed = useProjectsAgain()
  const may = useHasRole('editor')
  const resume = useMutation({ mutationFn: () => project(projectId, 'POST', ':resume'), onSuccess: changed })
  if (!may) return null
  return (
    <Group>
      <Button size="xs" onClick={() => resume.mutate()} loading={resume.isPending}>
        Resume project
      </Button>
      {resume.error && <ErrorAlert error={resume.error} />}
    </Group>
  )
}

export function PauseButton({ projectId }: { projectId: string }) {
  const changed = useProjectsAgain()
  return (
    <ConfirmButton
      label="Pause project"
      question="Nothing will be sent until you resume the project. New pushes and triggers are queued."
      act={() => project(projectId, 'POST', ':pause').then(changed)}
    />
  )
}
