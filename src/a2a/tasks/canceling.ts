import type { Approvals } from '../../oversight/oversight.ts'
import { type Discarding, discardedSentence } from '../../platform/backup/paused.ts'
import type { Db } from '../../platform/db/db.ts'
import { claimKey } from '../../platform/idempotency/idempotency.ts'
import { firstIdAt, isUuid, type ProjectId } from '../../platform/ids.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { AgentError } from '../errors.ts'
import { isInterrupted, isTerminal, type Task } from '../model.ts'
import type { Skills } from '../skills/skills.ts'
import { moved, runIdOf } from './changes.ts'
import { tasksUnderWay } from './store.ts'
import type { Tasks } from './tasks.ts'
import type { Watch } from './watch.ts'

/** Longer than a send waits for gateways, and longer than a takeover of a dead node's task takes. */
const longestWaitMs = 20_000

/**
 * The hash (hex) under which a cancel claims a key. It is shorter than the hash of any command, so a run finds that its
 * key was used for something else.
 */
const ofCancel = '00'

export interface CancelingOptions {
  tasks: Tasks
  skills: Skills
  watch: Pick<Watch, 'subscribe'>
  idempotencyHours: number
  /** Withdraws the approval that a task waits for. */
  dropApproval: Approvals['drop']
}

export type Canceling = ReturnType<typeof createCanceling>

/** Cancels tasks: `canceled` says that nothing was done (decision 0037). */
export function createCanceling({ tasks, skills, watch, idempotencyHours, dropApproval }: CancelingOptions) {
  /**
   * Whether the run of a `working` task, which is locked, has had no effect and can have none any more. An effect that
   * commits with its task would have ended the task. An effect with a key needs that key, and this cancel claims it.
   */
  async function hasDoneNothing(tx: Db, projectId: ProjectId, task: Task): Promise<boolean> {
    if (skillOf(task)?.runTogether) return true
    return (await claimEffect(tx, projectId, task)) === 'begun'
  }

  const skillOf = ({ request: { skill } }: Task) => (skill === undefined ? undefined : skills.get(skill))

  /** The state of the key that the effect of a task needs, after this cancel has claimed it. Undefined if it needs none. */
  async function claimEffect(tx: Db, projectId: ProjectId, task: Task) {
    const keyed = skillOf(task)?.effectKey
    if (!keyed) return undefined
    const key = { ...keyed({ runId: runIdOf(task), fields: task.request.fields }), fingerprint: ofCancel }
    return (await claimKey(tx, projectId, key, { taskId: task.id }, idempotencyHours)).state
  }

  /**
   * Whether a yes to the question of a task, which is locked, can have no effect any more. It may be a message of its own
   * that names only the confirmation, so it needs the key of the confirmation, and this cancel claims it. A task that asks
   * about something else may name any confirmation: no yes can be meant for it.
   */
  async function takesNoYes(tx: Db, projectId: ProjectId, task: Task): Promise<boolean> {
    const { confirmationId } = task.request.fields
    const question = task.request.pending as { shown?: { data: { confirmationId: unknown } } } | undefined
    if (typeof confirmationId !== 'string' || !isUuid(confirmationId)) return true
    if (task.status.state === 'input-required' && question?.shown?.data.confirmationId !== confirmationId) return true
    return (await claimEffect(tx, projectId, task)) !== 'other'
  }

  /** Cancels a task whose run has had no effect. Otherwise its run ends it, and undoes the effect as far as possible. */
  async function stop(tx: Db, projectId: ProjectId, task: Task, reason: string): Promise<Task | undefined> {
    const { state } = task.status
    const { approvalId } = task.request
    if (approvalId !== undefined) await dropApproval(tx, projectId, approvalId, 'canceled')
    if (isInterrupted(state) && !(await takesNoYes(tx, projectId, task))) throw confirmedElsewhere()
    if (state !== 'working' || (await hasDoneNothing(tx, projectId, task))) return moved(task, 'canceled', reason)
    return task.cancelRequested ? undefined : { ...task, cancelRequested: true }
  }

  const ask = (projectId: ProjectId, taskId: string, dialectOf: (task: Task) => Dialect): Promise<Task> =>
    tasks.change(
      projectId,
      taskId,
      async (task, tx) => {
        const { state } = task.status
        if (state === 'canceled' && dialectOf(task).rules.cancelsTwice) return undefined
        if (isTerminal(state)) throw notCancelable(task)
        return stop(tx, projectId, task, 'Canceled by request.')
      },
      { canceling: true }
    )

  return {
    /**
     * Cancels the tasks whose skill was running in a backup. Tasks that wait for a person stay: they do nothing without
     * a reply.
     */
    async discard(discarding: Discarding, projectId: ProjectId): Promise<void> {
      const { write } = discarding
      for (let after = firstIdAt(0); ; ) {
        const ids = await write((tx) => tasksUnderWay(tx, projectId, discarding, after))
        const [last] = ids.slice(-1)
        if (last === undefined) return
        for (const id of ids) {
          const step = async (task: Task, tx: Db) =>
            isUnderWay(task) ? stop(tx, projectId, task, discardedSentence) : undefined
          const changed = await write((tx) => tasks.changeIn(tx, projectId, id, step, { canceling: true }))
          changed?.()
        }
        after = last
      }
    },

    /** Cancels a task, or waits for the end of its run and throws an error that shows this end. */
    async cancel(projectId: ProjectId, known: Task, dialectOf: (task: Task) => Dialect): Promise<Task> {
      const end = Promise.withResolvers<Task | undefined>()
      // Subscribes before it reads the state, so that it misses no end of the run.
      const leave = watch.subscribe(projectId, known, (task) => isTerminal(task.status.state) && end.resolve(task))
      const timer = setTimeout(() => end.resolve(undefined), longestWaitMs)
      try {
        const asked = await ask(projectId, known.id, dialectOf)
        if (isTerminal(asked.status.state)) return asked
        const ended = await end.promise
        if (ended?.status.state === 'canceled') return ended
        throw notCancelable(ended ?? asked)
      } finally {
        clearTimeout(timer)
        leave()
      }
    }
  }
}

const isUnderWay = ({ status: { state } }: Task) => state === 'submitted' || state === 'working'

const confirmedElsewhere = () =>
  new AgentError('task_not_cancelable', 'Another call has confirmed what this task asks for, and it is done.')

function notCancelable({ status: { state } }: Task): AgentError {
  const why = isTerminal(state)
    ? `The task is ${state}: it can no longer be canceled. GetTask shows what was done.`
    : 'The task could not be stopped in time. It ends as soon as possible, and GetTask shows what was done.'
  return new AgentError('task_not_cancelable', why)
}
