import { Type } from '@sinclair/typebox'
import type { ListedMember, MadeLink, Members, Scope } from '../members/members.ts'
import { Refusal } from '../platform/errors.ts'
import { decodeCursor, defaultLimit, encodeCursor, page, pageOf, pageQuery } from '../platform/http/paging.ts'
import { type Routes, smallForm } from '../platform/http/routes.ts'
import { isUuid } from '../platform/ids.ts'
import { isProjectId, type ManageAccess, type ManageCaller } from '../projects/projects.ts'
import { ChangeMember, Invite, InvitedMember, LinkAnswer, MemberAnswer } from './member-schemas.ts'
import { known } from './responses.ts'

const only = {
  project_id: Type.Optional(Type.String({ description: 'Only members of this project.' })),
  member_id: Type.Optional(Type.String({ description: 'Only this person, with all roles that you may see.' }))
}

/** Members of the installation and of projects. `baseUrl`: the address of the service, for links. */
export function memberRoutes(
  manage: Routes<ManageCaller, ManageAccess>,
  members: Members,
  baseUrl: () => string
): void {
  const withAddress = ({ path, expires_at }: MadeLink) => ({
    link: baseUrl().replace(/\/+$/, '') + path,
    path,
    expires_at
  })

  /** One membership of a person, as the lists show it. */
  async function shown(caller: ManageCaller, memberId: string, scope: Scope) {
    const rows = await members.list({ reach: caller.reach('admin'), memberId }, undefined, 1_000)
    const row = rows.find(({ project_id }) => project_id === scope)
    if (!row) throw new Refusal('not_found', 'There is no such member.')
    return wireMember(row)
  }

  manage.post(
    '/members',
    {
      summary: 'Invite a person to the installation or to a project; only this response contains the link',
      access: 'admin',
      body: Invite,
      maxBody: smallForm,
      answer: InvitedMember,
      status: 201,
      refusals: ['invalid_parameter', 'not_found', 'conflict'],
      example: { email: 'ada@example.com', role: 'editor', project_id: 'demo' }
    },
    async ({ caller, body: { email, role, project_id = null }, reply }) => {
      reply.header('cache-control', 'no-store')
      const scope = project_id as Scope
      const { memberId, invitation } = await members.invite(caller, { email, role, scope })
      return { ...(await shown(caller, memberId, scope)), invitation: withAddress(invitation) }
    }
  )

  manage.get(
    '/members',
    {
      summary: 'List members and invitations; an item for each role of a person',
      access: 'admin',
      query: Type.Object({ ...only, ...pageQuery }),
      answer: pageOf(MemberAnswer),
      refusals: ['not_found']
    },
    async ({ caller, query: { project_id, member_id, cursor, limit = defaultLimit } }) => {
      const reach = caller.reach('admin')
      const memberId = member_id === undefined ? undefined : known(member_id, 'member')
      // A text that cannot be an id is not looked up: the database would refuse a NUL.
      if (project_id !== undefined && !isProjectId(project_id)) return { items: [], next_cursor: null }
      const rows = await members.list({ reach, projectId: project_id, memberId }, after(cursor), limit + 1)
      return page(rows, limit, ({ id, project_id }) => encodeCursor(id, project_id ?? ''), wireMember)
    }
  )

  manage.patch(
    '/members/:member_id',
    {
      summary: 'Change the role of a member in the installation or in a project; it counts at once',
      access: 'admin',
      body: ChangeMember,
      maxBody: smallForm,
      answer: MemberAnswer,
      refusals: ['conflict'],
      example: { role: 'viewer', project_id: 'demo' }
    },
    async ({ caller, params, body: { role, project_id = null } }) => {
      const memberId = known(params.member_id, 'member')
      await members.changeRole(caller, memberId, project_id as Scope, role)
      return shown(caller, memberId, project_id as Scope)
    }
  )

  manage.delete(
    '/members/:member_id',
    {
      summary: 'Remove a member from everything that you administer, or from one project, and end all its sessions',
      access: 'admin',
      query: Type.Object({
        project_id: Type.Optional(Type.String({ description: 'Only from this project.' })),
        installation: Type.Optional(
          Type.Boolean({ description: 'true: only the role in the whole installation; roles in projects stay.' })
        )
      }),
      answer: Type.Object({}),
      refusals: ['conflict']
    },
    async ({ caller, params, query: { project_id, installation } }) => {
      if (project_id !== undefined && installation)
        throw new Refusal('invalid_parameter', 'Give either project_id or installation.')
      const scope = installation ? null : (project_id as Scope | undefined)
      await members.remove(caller, known(params.member_id, 'member'), scope)
      return {}
    }
  )

  manage.post(
    '/members/:member_id([^:]+)::reset',
    {
      summary: 'Make a link with which a member sets a new password; only this response contains it',
      access: 'admin',
      answer: LinkAnswer,
      status: 201,
      refusals: ['conflict']
    },
    async ({ caller, params, reply }) => {
      reply.header('cache-control', 'no-store')
      return withAddress(await members.reset(caller, known(params.member_id, 'member')))
    }
  )
}

/** Before the invitation is accepted, the inviting project learns nothing about the person. */
const wireMember = (row: ListedMember) => {
  const active = row.accepted_at !== null
  return {
    id: row.id,
    email: row.email,
    name: active ? row.name : null,
    role: row.role,
    project_id: row.project_id,
    state: active ? 'active' : 'invited',
    source: row.source,
    created_at: row.created_at,
    last_seen_at: active ? row.seen_at : null,
    invitation_expires_at: active ? null : row.invited_until
  }
}

function after(cursor: string | undefined): [string, string] | undefined {
  if (cursor === undefined) return undefined
  const [id, projectId] = decodeCursor(cursor, 2)
  if (!isUuid(id!)) throw new Refusal('invalid_parameter', 'cursor: is not one that was given out')
  return [id!, projectId!]
}
