import { pageOf } from '../platform/http/paging.ts'
import type { Routes } from '../platform/http/routes.ts'
import type { Watching } from '../platform/http/streams/watching.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { ManageAccess, ManageCaller, NamesOf } from '../projects/projects.ts'
import { listRows, TriggerQuery } from './list.ts'
import { triggerResponse } from './response.ts'
import { AuthoredTrigger, TriggerSizeAnswer } from './schemas.ts'
import type { TriggerRow } from './store.ts'
import { sendStream } from './stream-response.ts'
import type { Triggers } from './triggers.ts'

/** Routes by which the console and the CLI watch triggers. */
export function triggerManagementRoutes(
  manage: Routes<ManageCaller, ManageAccess>,
  { triggers, namesOf, watching }: { triggers: Triggers; namesOf: NamesOf; watching: Watching }
): void {
  async function authored(projectId: ProjectId, rows: TriggerRow[]): Promise<AuthoredTrigger[]> {
    const { nameOf } = await namesOf(
      projectId,
      rows.map(({ actor }) => actor)
    )
    return rows.map((row) => ({ ...triggerResponse(row), actor: row.actor, actor_name: nameOf(row.actor) }) as never)
  }

  manage.get(
    '/projects/:project_id/triggers',
    {
      summary: 'List triggers',
      access: 'viewer',
      query: TriggerQuery,
      answer: pageOf(AuthoredTrigger),
      refusals: ['invalid_parameter']
    },
    async ({ caller, query }) => {
      const { items, ...rest } = await listRows(triggers, caller.project!.id, query)
      return { items: await authored(caller.project!.id, items), ...rest }
    }
  )

  manage.get(
    '/projects/:project_id/triggers/:trigger_id',
    { summary: 'Read a trigger, with who made it', access: 'viewer', answer: AuthoredTrigger, refusals: ['not_found'] },
    async ({ caller, params }) => {
      const projectId = caller.project!.id
      return (await authored(projectId, [await triggers.get(projectId, params.trigger_id!)]))[0]!
    }
  )

  manage.get(
    '/projects/:project_id/triggers/:trigger_id/size',
    {
      summary: 'Count the audience of a trigger, for up to three seconds: counts.targeted grows while it is sent',
      access: 'viewer',
      answer: TriggerSizeAnswer,
      refusals: ['not_found']
    },
    ({ caller, params }) => triggers.size(caller.project!.id, params.trigger_id!)
  )

  manage.get(
    '/projects/:project_id/triggers/:trigger_id/stream',
    {
      operationId: 'streamProjectTrigger',
      summary: 'Watch a trigger: an event with all counters whenever they change, until it has ended',
      access: 'viewer',
      answerType: 'text/event-stream',
      refusals: ['not_found', 'rate_limited'],
      unlimited: true
    },
    async ({ caller, params, request, reply }) => {
      const of = { projectId: caller.project!.id, triggerId: params.trigger_id! }
      return sendStream(triggers, of, reply, () => watching({ caller, request, reply }))
    }
  )
}
