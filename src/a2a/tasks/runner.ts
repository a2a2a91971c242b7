import type { Approvals } from '../../oversight/oversight.ts'
import { type Db, isPassing } from '../../platform/db/db.ts'
import { againIfRaced } from '../../platform/db/races.ts'
import { Refusal, Unavailable } from '../../platform/errors.ts'
import type { IdempotencyKey } from '../../platform/idempotency/idempotency.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { RetryLater } from '../../platform/jobs/definition.ts'
import type { Log } from '../../platform/log.ts'
import type { ApiCaller, Project } from '../../projects/projects.ts'
import { isInterrupted, isTerminal, type Task } from '../model.ts'
import { rejected } from '../skills/check.ts'
import type { Outcome, Skill, SkillCall } from '../skills/skill.ts'
import type { Skills } from '../skills/skills.ts'
import { begunAtOf, ended, moved, runIdOf } from './changes.ts'
import { CancelRequest, type Running, type Runs } from './runs.ts'
import { isDue } from './store.ts'
import type { Tasks } from './tasks.ts'

/** The delay before another attempt to take over the work of a dead node. */
const takeoverMs = 1_000
const mostTakeovers = 3
const diedReason =
  'The node that ran it stopped before it was finished. It may have been done: check before sending it again.'

export interface RunnerOptions {
  log: Log
  tasks: Tasks
  runs: Runs
  skills: Skills
  /** Enqueues a job that runs the task. */
  schedule: (tx: Db, projectId: ProjectId, taskId: string) => Promise<void>
  projectOf: (projectId: ProjectId) => Promise<Project | undefined>
  /** Withdraws the approval that a task waits for. */
  dropApproval: Approvals['drop']
}

/** One run of a skill: its caller, and the key under which its end is stored. */
export interface RunOf {
  skill: Skill
  caller: ApiCaller
  key?: IdempotencyKey
}

export type Runner = ReturnType<typeof createRunner>

/** Ends tasks: runs their skills, and recovers those whose node died or whose caller never replied. */
export function createRunner({ log, tasks, runs, skills, schedule, projectOf, dropApproval }: RunnerOptions) {
  /** Runs the skill of a `working` task and writes its end. */
  async function run(projectId: ProjectId, task: Task, of: RunOf): Promise<Task> {
    if (of.skill.runTogether) return runInside(projectId, task, of.skill)
    const running = runs.begin(projectId, task.id)
    try {
      const call = callOf(projectId, task, of.caller, running.signal)
      const outcome = await outcomeOf(of.skill, running, () => of.skill.run(call))
      const end = async (now: Task) => {
        // The effect of another task stands. A run that was taken over finds its own effect in this way.
        const isOwn = now.takeovers > 0 || !(outcome.kind === 'completed' && outcome.earlier)
        const after = now.cancelRequested ? await stopped(of.skill, running, call, outcome, isOwn) : outcome
        return tasks.settle(projectId, now, ended(now, after), of.key)
      }
      const written = await end(task)
      // If a cancel arrived meanwhile, this run decides the end, unless another node has taken the task over.
      const asked = written.cancelRequested && !task.cancelRequested && written.takeovers === task.takeovers
      return asked ? await end(written) : written
    } finally {
      runs.end(task.id)
    }
  }

  /** An effect that is only a write to our database commits with the end of its task, or not at all. */
  const runInside = (projectId: ProjectId, task: Task, skill: Skill): Promise<Task> =>
    againIfRaced(() =>
      tasks.change(projectId, task.id, async (now, tx) => {
        if (now.status.state !== 'working' || now.takeovers !== task.takeovers) return undefined
        const [outcome] = await skill.runTogether!(tx, projectId, [{ runId: runIdOf(now), fields: now.request.fields }])
        return ended(now, outcome!)
      })
    )

  /**
   * The end of a run that is to be canceled: without an effect it is canceled, otherwise its effect is undone as far as
   * possible.
   */
  async function stopped(
    skill: Skill,
    running: Running,
    call: SkillCall,
    outcome: Outcome,
    mayUndo: boolean
  ): Promise<Outcome> {
    const left =
      outcome.kind === 'completed' && skill.undo && mayUndo
        ? await outcomeOf(skill, running, () => skill.undo!(call, outcome))
        : outcome
    // A run that would wait for its caller has had no effect.
    const waits = left.kind === 'input-required' || left.kind === 'auth-required'
    return waits ? { kind: 'canceled', reason: 'Canceled by request.' } : left
  }

  /** The sender of a task, rebuilt from the task when it runs without a call. */
  async function callerOf(projectId: ProjectId, { by }: Task): Promise<ApiCaller> {
    const project = await projectOf(projectId)
    if (!project) throw new Refusal('invalid_api_key', 'Invalid API key')
    return { project, actor: by?.actor ?? 'agent' }
  }

  async function outcomeOf(skill: Skill, { givenUp }: Running, step: () => Promise<Outcome>): Promise<Outcome> {
    const over = givenUp.catch(({ message }: Error): Outcome => ({ kind: 'failed', reason: message }))
    try {
      return await Promise.race([step(), over])
    } catch (error) {
      if (error instanceof CancelRequest) return { kind: 'canceled', reason: 'Canceled by request.' }
      return failureOf(error, skill)
    }
  }

  function failureOf(error: unknown, skill: Skill): Outcome {
    // A node that died a moment ago owns its work for a few more seconds. Waiting for that counts as no attempt.
    if (error instanceof Refusal && error.code === 'idempotency_key_in_use')
      throw new RetryLater(error.message, takeoverMs, { counts: false })
    if (error instanceof Refusal && error.code !== 'unavailable' && error.code !== 'invalid_api_key')
      return rejected(error)
    // The task stays `working`: its lease expires, and the recovery job decides whether to try again.
    if (error instanceof Unavailable || isPassing(error)) throw error
    if (error instanceof Refusal) throw error
    log.error({ error, skill: skill.id }, 'a skill failed')
    return { kind: 'failed', reason: 'A fault of the service. It is logged.' }
  }

  return {
    run,
    /** Runs a task on a worker, because its caller does not wait or its node died. */
    async runLater(
      projectId: ProjectId,
      taskId: string,
      { attempt, last }: { attempt: number; last: boolean }
    ): Promise<void> {
      let skill: Skill | undefined
      const task = await tasks.change(
        projectId,
        taskId,
        async (now) => {
          const { state } = now.status
          if (isTerminal(state) || isInterrupted(state)) return undefined
          skill = now.request.skill === undefined ? undefined : skills.get(now.request.skill)
          if (!skill) return moved(now, 'failed', 'The skill is no longer there.')
          if (state === 'submitted') return moved(now, 'working')
          // The first attempt of a task that no other node has run had no effect yet.
          if (now.cancelRequested && attempt === 1 && now.takeovers === 0)
            return moved(now, 'canceled', 'Canceled by request.')
          // The first attempt was counted when it was scheduled; attempts that the job repeats are counted here.
          return { ...now, takeovers: now.takeovers + (attempt > 1 ? 1 : 0) }
        },
        { byJob: true }
      )
      if (!skill || task.status.state !== 'working') return
      const caller = await callerOf(projectId, task)
      await run(projectId, task, { skill, caller }).catch(async (error: Error) => {
        if (!last) throw error
        await tasks.change(projectId, taskId, async (now) =>
          isTerminal(now.status.state) ? undefined : moved(now, 'failed', 'It was tried too often without success.')
        )
      })
    },

    /** Recovers an overdue task: its node died, or its caller never replied. */
    async recover(projectId: ProjectId, taskId: string, now: Date): Promise<void> {
      await tasks.change(
        projectId,
        taskId,
        async (task, tx) => {
          const { state } = task.status
          // The node may have renewed its lease meanwhile.
          if (runs.has(taskId) || !(await isDue(tx, projectId, taskId, now))) return undefined
          if (task.request.approvalId !== undefined)
            await dropApproval(tx, projectId, task.request.approvalId, 'expired')
          if (isInterrupted(state)) return moved(task, 'failed', 'No reply came for 24 hours.')
          if (task.takeovers >= mostTakeovers) return moved(task, 'failed', diedReason)
          await schedule(tx, projectId, taskId)
          return { ...task, takeovers: task.takeovers + 1 }
        },
        { byJob: true }
      )
    }
  }
}

function callOf(projectId: ProjectId, task: Task, caller: ApiCaller, signal: AbortSignal): SkillCall {
  const { fields, permit } = task.request
  const messageId = task.history.findLast(({ role }) => role === 'user')?.messageId ?? ''
  const runId = runIdOf(task)
  return { projectId, taskId: task.id, runId, begunAt: begunAtOf(task), messageId, caller, fields, permit, signal }
}
