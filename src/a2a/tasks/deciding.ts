import type { Db } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { Permit } from '../../projects/projects.ts'
import { AgentError } from '../errors.ts'
import type { Request, Task } from '../model.ts'
import type { Beside } from '../skills/skill.ts'
import { moved } from './changes.ts'
import type { Tasks } from './tasks.ts'

/** A decision about the approval that a task waits for. */
export type Decision =
  /** The task runs, within the limits of the permit. `fields` are added to its request. `by` approved it. */
  | { kind: 'approved'; by: string; note: string | null; permit?: Permit | undefined; fields?: Record<string, unknown> }
  | { kind: 'rejected'; note: string | null }
  | { kind: 'expired' }
  /** The facts changed since they were shown, so the task waits for another approval. */
  | ({ kind: 'asks'; approvalId: string; reason: string } & Beside)

export type Deciding = ReturnType<typeof createDeciding>

/** Moves tasks that wait for an approval; messages cannot move them. */
export const createDeciding =
  (tasks: Tasks, schedule: (tx: Db, projectId: ProjectId, taskId: string) => Promise<void>) =>
  /**
   * Runs in the transaction of the decision, and returns a function to call after its commit. Undefined if the task no
   * longer waits for this approval.
   */
  async (
    tx: Db,
    projectId: ProjectId,
    { taskId, approvalId }: { taskId: string; approvalId: string },
    decision: Decision
  ): Promise<(() => void) | undefined> =>
    tasks
      .changeIn(
        tx,
        projectId,
        taskId,
        async (task) => {
          if (task.status.state !== 'auth-required' || task.request.approvalId !== approvalId) return undefined
          if (decision.kind === 'approved') await schedule(tx, projectId, taskId)
          return decided(task, decision)
        },
        { byJob: decision.kind === 'approved' }
      )
      .catch(asEnded)

/** An erasure of a user may have deleted the task. */
function asEnded(error: unknown): undefined {
  if (!(error instanceof AgentError && error.fault === 'task_not_found')) throw error
}

function decided(task: Task, decision: Decision): Task {
  const { approvalId, ...asked } = task.request
  switch (decision.kind) {
    case 'approved': {
      const { by, note, permit, fields } = decision
      const request: Request = { ...asked, fields: { ...asked.fields, ...fields }, ...(permit && { permit }) }
      return moved({ ...task, request }, 'working', note ? `Approved by ${by}: ${note}` : `Approved by ${by}.`)
    }
    case 'rejected': {
      const reason = decision.note ? `The approval was rejected: ${decision.note}` : 'The approval was rejected.'
      return moved(moved(task, 'working'), 'rejected', reason)
    }
    case 'expired':
      return moved(task, 'failed', 'The approval expired: no decision came within 24 hours.')
    case 'asks': {
      const request = { ...asked, approvalId: decision.approvalId }
      return moved(moved({ ...task, request }, 'working'), 'auth-required', decision.reason, decision)
    }
  }
}
