import { countTasksUnderWay } from '../a2a/a2a.ts'
import { countWaitingChanges } from '../activity-channels/activity-channels.ts'
import { countQueued } from '../events/events.ts'
import { countWaitingJourneys } from '../journeys/journeys.ts'
import { countWaitingMessages } from '../messages/messages.ts'
import type { DiscardScope } from '../platform/backup/paused.ts'
import type { Db } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { listRetentions } from '../projects/projects.ts'
import { findDueSchedules } from '../schedules/schedules.ts'
import { countWaitingTriggers } from '../triggers/triggers.ts'

/** `due`: by the time of the count. `later`: at a time that lies ahead. */
export interface Count {
  due: number
  later: number
}

/** What waited in a backup to be sent, by its kind. */
export type Waiting = Record<(typeof kinds)[number], Count>

export const kinds = [
  'triggers',
  'messages',
  'journeys',
  'schedules',
  'events',
  'channel_updates',
  'agent_tasks'
] as const

const dueNow = (due: number): Count => ({ due, later: 0 })

export async function waitingOf(db: Db, projectId: ProjectId, scope: DiscardScope): Promise<Waiting> {
  const { messages: ofTriggers, ...triggers } = await countWaitingTriggers(db, projectId, scope)
  const { due, later } = await countWaitingMessages(db, projectId, scope)
  return {
    triggers,
    messages: { due: due + ofTriggers, later },
    journeys: await countWaitingJourneys(db, projectId, scope),
    schedules: dueNow((await findDueSchedules(db, projectId, scope.dueBy)).length),
    events: dueNow(await countQueued(db, projectId, scope)),
    channel_updates: dueNow(await countWaitingChanges(db, projectId, scope)),
    agent_tasks: dueNow(await countTasksUnderWay(db, projectId, scope))
  }
}

/** The sum over all projects, and each project with something that waits. */
export async function waitingInAll(db: Db, scope: DiscardScope) {
  const total = Object.fromEntries(kinds.map((kind) => [kind, dueNow(0)])) as Waiting
  const projects: { projectId: ProjectId; waiting: Waiting }[] = []
  for (const { projectId } of await listRetentions(db)) {
    const waiting = await waitingOf(db, projectId, scope)
    for (const kind of kinds) {
      total[kind].due += waiting[kind].due
      total[kind].later += waiting[kind].later
    }
    if (kinds.some((kind) => waiting[kind].due + waiting[kind].later > 0)) projects.push({ projectId, waiting })
  }
  return { total, projects }
}
