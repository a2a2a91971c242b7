import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable } from '../platform/errors.ts'
import type { ProjectId } from '../platform/ids.ts'
import { steadyMs } from '../platform/time.ts'

/**
 * A question to a segment takes a connection of this process, for up to 5 s where its author wants it to. So few are
 * asked at once, and fewer for one project: a hostile one waits for itself, and requests always find a connection.
 */
const atOnce = 5
const ofOneProject = 2
/** Whoever waits longer is sent away: a job gives its place in the worker to others, and comes back. */
const usualWaitMs = 100

/** Too many segments of this project are being looked at. */
export class SegmentBusy extends Unavailable {
  constructor() {
    super('Too many segments of this project are being looked at.')
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
      reject(new SegmentBusy())
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

  /** Asks when it is this project's turn. Throws `SegmentBusy` where that takes too long. */
  return async <Answer>(projectId: ProjectId, ask: () => Promise<Answer>): Promise<Answer> => {
    await begin(projectId)
    try {
      return await ask()
    } finally {
      end(projectId)
    }
  }
}

/** For a request, which has nowhere to come back to: tries until then. */
export async function patiently<Answer>(ask: () => Promise<Answer>, untilMs: number): Promise<Answer> {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof SegmentBusy) || steadyMs() >= untilMs) throw error
      await sleep(usualWaitMs)
    }
  }
}
