import { Refusal } from '../platform/errors.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { ManageCaller } from '../projects/projects.ts'

/** Refuses live projects, which have no simulator. */
export function simulatedProject({ project }: ManageCaller): ProjectId {
  if (project!.mode === 'simulator') return project!.id
  throw new Refusal(
    'project_is_live',
    `The project ${project!.id} is live: it uses the real gateways. This needs a project of mode simulator.`
  )
}
