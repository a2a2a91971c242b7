import { Readable } from 'node:stream'
import { Type } from '@sinclair/typebox'
import type { Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { refusing } from '../platform/fields.ts'
import { defaultLimit, encodeCursor, idAfter, pageOf, pageQuery } from '../platform/http/paging.ts'
import type { Routes } from '../platform/http/routes.ts'
import { isUuid, type ProjectId } from '../platform/ids.ts'
import { isStorable } from '../platform/json/storable.ts'
import { type ManageAccess, type ManageCaller, type NamesOf, recordAudit } from '../projects/projects.ts'
import type { Task } from './model.ts'
import { pageOfTasks, type TaskPage } from './task-pages.ts'
import { recordOf, type TaskRecord } from './tasks/record.ts'
import { State, TaskRecordAnswer } from './tasks/record-schema.ts'
import { findTasks } from './tasks/store.ts'

const path = '/projects/:project_id/agent-tasks'
const all = { contextId: undefined, state: undefined, changedAfter: undefined }

/** Routes by which people read agents' tasks: a list, one task, and an export. */
export function taskRecordRoutes(manage: Routes<ManageCaller, ManageAccess>, pool: Pool, namesOf: NamesOf): void {
  const named = async (projectId: ProjectId, tasks: Task[]) => {
    const { nameOf } = await namesOf(
      projectId,
      tasks.map(({ by }) => by?.actor ?? null)
    )
    return (task: Task): TaskRecord => recordOf(task, nameOf(task.by?.actor ?? null))
  }

  manage.get(
    path,
    {
      summary: 'List tasks of agents with who asked and what was done; newest first',
      access: 'viewer',
      query: Type.Object({
        ...pageQuery,
        state: Type.Optional(State),
        context_id: Type.Optional(Type.String({ description: 'Only tasks of this conversation.' }))
      }),
      answer: pageOf(TaskRecordAnswer),
      refusals: ['invalid_parameter']
    },
    async ({ caller, query: { cursor, limit = defaultLimit, state, context_id } }) => {
      const before = idAfter(cursor) ?? undefined
      const filter = { ...all, state, contextId: stored(context_id) }
      const projectId = caller.project!.id
      const { tasks, next } = await pool.reading((db) =>
        pageOfTasks(db, projectId, filter, { before, limit, offset: 0 })
      )
      const items = tasks.map(await named(projectId, tasks))
      return { items, next_cursor: next === undefined ? null : encodeCursor(next) }
    }
  )

  manage.get(
    `${path}::export`,
    {
      summary: 'Export the records of all tasks of agents, one to a line; newest first',
      access: 'admin',
      answerType: 'application/x-ndjson',
      unlimited: true
    },
    async ({ caller, reply }) => {
      const projectId = caller.project!.id
      await recordAudit(pool, projectId, { actor: caller.actor, action: 'agent_tasks.export', target: projectId })
      reply.type('application/x-ndjson')
      return Readable.from(linesOf(pool, projectId), { objectMode: false })
    }
  )

  manage.get(
    `${path}/:task_id`,
    {
      summary: 'Read the record of a task',
      access: 'viewer',
      params: { task_id: 'The id of the task.' },
      answer: TaskRecordAnswer,
      refusals: ['not_found']
    },
    async ({ caller, params: { task_id = '' } }): Promise<TaskRecord> => {
      const id = task_id.toLowerCase()
      const task = isUuid(id) && (await findTasks(pool, caller.project!.id, [id])).get(id)
      if (!task) throw new Refusal('not_found', 'The project has no task with this id.')
      return (await named(caller.project!.id, [task]))(task)
    }
  )
}

/** The number of tasks read at once; fewer if they are large. */
const tasksAtOnce = 20

async function* linesOf(pool: Pool, projectId: ProjectId): AsyncGenerator<string> {
  let before: string | undefined
  for (;;) {
    const from = { before, limit: tasksAtOnce, offset: 0 }
    const { tasks, next }: TaskPage = await pool.reading((db) => pageOfTasks(db, projectId, all, from))
    for (const task of tasks) yield `${JSON.stringify(recordOf(task, null))}\n`
    if (next === undefined) return
    before = next
  }
}

/** No conversation has a name that the database cannot store. */
function stored(id: string | undefined): string | undefined {
  if (id !== undefined && !isStorable(id)) throw refusing('invalid_parameter')('context_id', 'must not hold a NUL')
  return id
}
