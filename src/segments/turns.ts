import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable } from '../platform/errors.ts'
import type { ProjectId } from '../platform/ids.ts'
import { steadyMs } from '../platform/time.ts'

/**
 * Evaluating a segment occupies a connection of this process, up to 5 s for a hostile one. Few are evaluated at once, and
 * fewer for one project: a hostile project waits for itself, and requests always find a connection.
 */
const atOnce = 5
const ofOneProject = 2
/** A longer wait is refused: a job then frees its place in the worker and comes back. */
const usualWaitMs = 100

/** All turns are taken: those of the project itself, or those of the whole process. */
export class SegmentBusy extends Unavailable {
  override readonly code

  constructor(byOwn: boolean) {
    super(`Too many segments${byOwn ? ' of this project' : ''} are being evaluated.`)
    this.code = byOwn ? ('rate_limited' as const) : ('unavailable' as const)
  }
}

interface Waiting {
  projectId: ProjectId
  begin(): void
}

export function createTurns(waitMs = usualWaitMs) {
  const running = new Map<ProjectId, number>()
  const waiting = new Set<Waiting>()
  let all = 0

  const mayBegin = (projectId: ProjectId) => all < atOnce && (running.get(projectId) ?? 0) < ofOneProject

  function count(projectId: ProjectId, by: 1 | -1): void {
    all += by
    const left = (running.get(projectId) ?? 0) + by
    if (left > 0) running.set(projectId, left)
    else running.delete(projectId)
  }

  async function begin(projectId: ProjectId): Promise<void> {
    if (mayBegin(projectId)) return count(projectId, 1)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      waiting.delete(entry)
      reject(new SegmentBusy((running.get(projectId) ?? 0) >= ofOneProject))
    }, waitMs)
    const entry = {
      projectId,
      begin() {
        clearTimeout(timer)
        waiting.delete(entry)
        count(projectId, 1)
        resolve()
      }
    }
    waiting.add(entry)
    return promise
  }

  function end(projectId: ProjectId): void {
    count(projectId, -1)
    for (const entry of waiting) if (mayBegin(entry.projectId)) entry.begin()
  }

  /** Evaluates when it is this project's turn. Throws `SegmentBusy` if that takes too long. */
  return async <Result>(projectId: ProjectId, evaluate: () => Promise<Result>): Promise<Result> => {
    await begin(projectId)
    try {
      return await evaluate()
    } finally {
      end(projectId)
    }
  }
}

/** Repeats a busy evaluation until a deadline, for requests, which cannot come back later as jobs do. */
export async function patiently<Result>(evaluate: () => Promise<Result>, untilMs: number): Promise<Result> {
  for (;;) {
    try {
      return await evaluate()
    } catch (error) {
      if (!(error instanceof SegmentBusy) || steadyMs() >= untilMs) throw error
      await sleep(usualWaitMs)
    }
  }
}
