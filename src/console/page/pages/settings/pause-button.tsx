import { useQueryClient } from '@tanstack/react-query'
import { project } from '../../api/client.ts'
import { useHasRole, useProject } from '../../api/session.ts'
import { ConfirmButton } from '../../parts/forms/confirm-button.tsx'

/** Stops everything that agents and others send; shown wherever agents are. */
export function PauseAgents() {
  const project = useProject()
  const canPause = useHasRole('editor')
  return project && canPause && project.paused_at === null ? <PauseButton projectId={project.id} /> : null
}

export function PauseButton({ projectId }: { projectId: string }) {
  const queries = useQueryClient()
  return (
    <ConfirmButton
      label="Pause project"
      question="Nothing will be sent until you resume the project. New pushes and triggers are queued."
      act={() => project(projectId, 'POST', ':pause').then(() => queries.invalidateQueries({ queryKey: ['projects'] }))}
    />
  )
}
