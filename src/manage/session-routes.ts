import { Type } from '@sinclair/typebox'
import type { Doors, Members } from '../members/members.ts'
import { memberIdOf } from '../members/members.ts'
import { defaultLimit, idAfter, page, pageOf, pageQuery } from '../platform/http/paging.ts'
import { type Routes, smallForm } from '../platform/http/routes.ts'
import type { ManageAccess, ManageCaller } from '../projects/projects.ts'
import { AccountAnswer, ChangeOwn, ChangePassword, SessionAnswer } from './member-schemas.ts'
import { cursorOfId, known } from './responses.ts'

const MemberId = Type.Optional(Type.String({ description: 'Those of this member, whom you administer.' }))

/** Signed-in browsers, and the account of the member that calls. */
export function sessionRoutes(manage: Routes<ManageCaller, ManageAccess>, members: Members, doors: Doors): void {
  manage.get(
    '/sessions',
    {
      summary: 'List your own sessions; an admin also lists those of others',
      access: 'viewer',
      query: Type.Object({
        member_id: MemberId,
        all: Type.Optional(Type.Boolean({ description: 'true: those of everyone whom you administer.' })),
        ...pageQuery
      }),
      answer: pageOf(SessionAnswer),
      refusals: ['not_found', 'forbidden']
    },
    async ({ caller, query: { member_id, all = false, cursor, limit = defaultLimit } }) => {
      const memberId = member_id === undefined ? undefined : known(member_id, 'member')
      const rows = await members.sessions.list(caller, { all, memberId }, idAfter(cursor), limit + 1)
      return page(rows, limit, cursorOfId, (row) => row)
    }
  )

  manage.delete(
    '/sessions',
    {
      summary: 'End all your sessions but the one that calls; an admin also ends all those of a member',
      access: 'viewer',
      query: Type.Object({ member_id: MemberId }),
      answer: Type.Object({ ended: Type.Integer({ description: 'How many sessions ended.' }) }),
      refusals: ['not_found', 'forbidden']
    },
    async ({ caller, query: { member_id } }) => ({
      ended: await members.sessions.endAll(caller, member_id === undefined ? undefined : known(member_id, 'member'))
    })
  )

  manage.delete(
    '/sessions/:session_id',
    { summary: 'End a session of yours, or of someone whom you administer', access: 'viewer', answer: Type.Object({}) },
    async ({ caller, params }) => {
      await members.sessions.end(caller, known(params.session_id, 'session'))
      return {}
    }
  )

  manage.patch(
    '/account',
    {
      internal: true,
      summary: 'Change your name, as a signed-in member',
      access: 'viewer',
      body: ChangeOwn,
      maxBody: smallForm,
      answer: Type.Object({}),
      refusals: ['invalid_parameter', 'forbidden'],
      example: { name: 'Ada Lovelace' }
    },
    async ({ caller, body }) => {
      await members.own.rename(caller, body.name)
      return {}
    }
  )

  manage.get(
    '/account',
    {
      internal: true,
      summary: 'Read your account, as a signed-in member',
      access: 'viewer',
      answer: AccountAnswer,
      refusals: ['forbidden']
    },
    async ({ caller }) => {
      const memberId = memberIdOf(caller)
      return { ...(await members.own.read(memberId)), provider: await doors.providerOf(memberId) }
    }
  )

  manage.put(
    '/account/password',
    {
      internal: true,
      summary: 'Change your password, as a signed-in member; your other sessions end',
      access: 'viewer',
      body: ChangePassword,
      answer: Type.Object({}),
      refusals: ['invalid_parameter', 'forbidden', 'rate_limited'],
      example: { current: 'the old one, for example', password: 'a new one of twelve or more' }
    },
    async ({ caller, body, request, reply }) => {
      await members.own.changePassword(caller, body, request, reply)
      return {}
    }
  )
}
