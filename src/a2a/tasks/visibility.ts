import type { ApiCaller } from '../../projects/projects.ts'
import type { Asker, Task } from '../model.ts'

/**
 * The chain of rotated keys whose tasks are the only ones that the caller sees. Undefined for a caller without a
 * policy, which sees all tasks of its project.
 */
export const onlyChainOf = ({ key }: ApiCaller): string | undefined => (key?.policy ? key.originId : undefined)

/** Whether a task does not exist for the caller. The work of another key could do what the policy forbids. */
export function isHidden(caller: ApiCaller, { by }: Task): boolean {
  const only = onlyChainOf(caller)
  return only !== undefined && chainOf(by) !== only
}

const chainOf = (by: Asker | undefined): string | undefined => by?.originId ?? by?.keyId
