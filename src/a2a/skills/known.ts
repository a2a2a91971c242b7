import { Refusal } from '../../platform/errors.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { checkProjectUserId } from '../../users/users.ts'
import type { Capabilities } from './capabilities.ts'

/** The user of this id. A refusal names the field as agents spell it. */
export async function knownUser({ users }: Pick<Capabilities, 'users'>, projectId: ProjectId, id: unknown) {
  return users.get(projectId, checkProjectUserId(id, 'projectUserId')).catch((error: unknown) => {
    throw error instanceof Refusal && error.code === 'not_found'
      ? new Refusal('not_found', 'No user has this projectUserId.')
      : error
  })
}
