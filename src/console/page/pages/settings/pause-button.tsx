import { useQueryClient } from '@tanstack/react-query'
import { project } from '../../api/client.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'

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
