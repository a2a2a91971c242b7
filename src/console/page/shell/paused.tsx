import { Alert, Button, Code, Group, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { project } from '../api/client.ts'
import { useNodes } from '../api/nodes.ts'
import { useHasRole } from '../api/session.ts'
import { ErrorAlert } from '../parts/states.tsx'
import { When } from '../parts/texts.tsx'

/** Shown on every page after a restore: the whole installation waits, and only its operator can continue. */
export function RestoredBanner() {
  const paused = useNodes().data?.paused
  if (!paused) return null
  return (
    <Alert color="orange" mb="md" title="Restored and paused" role="status">
      <Text size="sm">
        This installation was restored; its data is from <When at={paused.backup_made_at} />. Nothing is sent, no
        webhook is called and no job runs, because what waited in the backup may have been sent since.{' '}
        {paused.discarding ? (
          'It is being canceled now, and the installation continues when that is done.'
        ) : (
          <>
            To continue, run <Code>tidings resume</Code> on the server, or <Code>tidings resume --discard</Code> to
            cancel what waited.
          </>
        )}
      </Text>
    </Alert>
  )
}

/** Shown on every page of a paused project, because it explains why no message arrives. */
export const PausedBanner = ({ projectId, since }: { projectId: string; since: string }) => (
  <Alert color="orange" mb="md" title="Project paused" role="status">
    <Text size="sm" mb="xs">
      Nothing has been sent since <When at={since} />. Pushes and triggers are accepted and queued until you resume the
      project.
    </Text>
    <ResumeButton projectId={projectId} />
  </Alert>
)

function ResumeButton({ projectId }: { projectId: string }) {
  const queries = useQueryClient()
  const canResume = useHasRole('editor')
  const resume = useMutation({
    mutationFn: () => project(projectId, 'POST', ':resume'),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['projects'] })
  })
  if (!canResume) return null
  return (
    <Group>
      <Button size="xs" onClick={() => resume.mutate()} loading={resume.isPending}>
        Resume project
      </Button>
      {resume.error && <ErrorAlert error={resume.error} />}
    </Group>
  )
}
