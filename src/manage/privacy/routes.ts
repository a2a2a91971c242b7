import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { Type } from '@sinclair/typebox'
import type { Routes } from '../../platform/http/routes.ts'
import { type ManageAccess, type ManageCaller, recordAudit } from '../../projects/projects.ts'
import type { Users } from '../../users/users.ts'
import { type ExportNeeds, everythingAbout } from './export.ts'

const list = (description: string) => Type.Array(Type.Unknown(), { description })
const Everything = Type.Object({
  exported_at: Type.String(),
  project_id: Type.String(),
  user: Type.Unknown({ description: 'Ids, properties and times.' }),
  preferences: Type.Unknown({ description: 'The opt-out, and every topic.' }),
  consents: list('The evidence of choices: the latest yes and the latest no of each.'),
  devices: list('Facts about each device, and its tokens in full.'),
  events: list('Newest first.'),
  messages: list('Newest first, with their outcomes on each device.'),
  journeys: list('Campaigns with steps that the user entered.'),
  conversions: list('Messages that an event of the user is credited to.'),
  skips: list('Triggers that passed the user over, and why.')
})

/**
 * The audit log outlives users, so it must not name them. An auditor who knows the id can compute the same text and find
 * the entry.
 */
const fingerprint = (projectId: string, projectUserId: string): string =>
  hash('sha256', `${projectId}:${projectUserId}`).slice(0, 32)

/** Everything that is stored about one user, for a person who asks for it. */
export function privacyRoutes(
  manage: Routes<ManageCaller, ManageAccess>,
  { users, ...needs }: ExportNeeds & { users: Users }
): void {
  manage.get(
    '/projects/:project_id/users/:project_user_id/export',
    {
      operationId: 'exportUser',
      summary: 'Export everything about a user',
      access: 'admin',
      params: { project_user_id: "The project's own id of the user, percent-encoded." },
      answer: Everything,
      refusals: ['not_found', 'invalid_project_user_id'],
      unlimited: true
    },
    async ({ caller, params, reply }) => {
      const projectId = caller.project!.id
      const user = await users.get(projectId, params.project_user_id)
      const target = fingerprint(projectId, user.projectUserId)
      await recordAudit(needs.pool, projectId, { actor: caller.actor, action: 'user.export', target })
      reply.type('application/json').header('content-disposition', 'attachment; filename="user.json"')
      return Readable.from(everythingAbout(needs, projectId, user), { objectMode: false })
    }
  )
}
