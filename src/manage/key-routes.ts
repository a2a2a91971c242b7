import { Type } from '@sinclair/typebox'
import { readPolicy, readPolicyChange } from '../oversight/oversight.ts'
import { readEach, refusing } from '../platform/fields.ts'
import { overlapOf } from '../platform/http/overlap.ts'
import { defaultLimit, idAfter, PageQuery, page, pageOf } from '../platform/http/paging.ts'
import { type Routes, smallForm } from '../platform/http/routes.ts'
import { readTime, timeRule } from '../platform/time.ts'
import type { ManageAccess, ManageCaller, Projects } from '../projects/projects.ts'
import { cursorOfId, known, wireKey, wireNewKey } from './responses.ts'
import { ChangeKey, CreatedKey, CreateKey, KeyAnswer, RotatedKey, RotateKey } from './schemas.ts'

/** The skills that a policy can name, by id. */
export type KnownSkills = Parameters<typeof readPolicy>[1]

export function keyRoutes(manage: Routes<ManageCaller, ManageAccess>, projects: Projects, skills: KnownSkills): void {
  manage.post(
    '/projects/:project_id/keys',
    {
      summary: 'Create a key; only this response contains its text',
      access: 'admin',
      body: CreateKey,
      maxBody: smallForm,
      answer: CreatedKey,
      status: 201,
      refusals: ['invalid_parameter'],
      example: { kind: 'secret', name: 'backend' }
    },
    async ({ caller, body }) => {
      const read = [() => expiryOf(body.expires_at), () => readPolicy(body.policy, skills)] as const
      // Reads both fields before it refuses, so that one response names all faults.
      readEach(read, (field) => field())
      const options = { expiresAt: read[0](), policy: read[1]() }
      return wireNewKey(await projects.createKey(caller.actor, caller.project!.id, body.kind, body.name, options))
    }
  )

  manage.get(
    '/projects/:project_id/keys',
    { summary: 'List keys, without their texts', access: 'admin', query: PageQuery, answer: pageOf(KeyAnswer) },
    async ({ caller, query: { cursor, limit = defaultLimit } }) =>
      page(await projects.listKeys(caller.project!.id, idAfter(cursor), limit + 1), limit, cursorOfId, wireKey)
  )

  manage.patch(
    '/projects/:project_id/keys/:key_id',
    {
      summary:
        'Change the policy of a secret key and of its rotations: what an agent may do with it; every node applies it within a second',
      access: 'admin',
      body: ChangeKey,
      maxBody: smallForm,
      answer: KeyAnswer,
      refusals: ['not_found', 'invalid_parameter'],
      example: { policy: { max_recipients: 500, approval_above: 50, confirm_broadcasts: true } }
    },
    async ({ caller, body, params }) => {
      const id = known(params.key_id, 'key')
      if (body.policy === undefined) throw wrong('policy', 'must be an object, or null for none')
      const revise = readPolicyChange(body.policy, skills)
      return wireKey(await projects.changePolicy(caller.actor, caller.project!.id, id, revise))
    }
  )

  manage.delete(
    '/projects/:project_id/keys/:key_id',
    { summary: 'Revoke a key', access: 'admin', answer: Type.Object({}) },
    async ({ caller, params }) => {
      await projects.revokeKey(caller.actor, caller.project!.id, known(params.key_id, 'key'))
      return {}
    }
  )

  manage.post(
    '/projects/:project_id/keys/:key_id([^:]+)::rotate',
    {
      summary: 'Replace a key: returns a new one, and the old one works until the overlap ends',
      access: 'admin',
      body: RotateKey,
      bodyKind: 'optional',
      answer: RotatedKey,
      status: 201,
      refusals: ['not_found', 'conflict', 'invalid_parameter'],
      example: { overlap: '24h' }
    },
    async ({ caller, body, params: { key_id: id = '' } }) => {
      const read = [() => overlapOf(body.overlap), () => expiryOf(body.expires_at)] as const
      // Reads both before it refuses, so that one response names all faults.
      readEach(read, (field) => field())
      const rotated = await projects.rotateKey(caller.actor, caller.project!.id, known(id, 'key'), read[0](), read[1]())
      return { ...wireNewKey(rotated), replaces: rotated.replaces }
    }
  )
}

/** When a key expires; null for never. */
function expiryOf(text: string | null | undefined): Date | null {
  if (text === undefined || text === null) return null
  const at = readTime(text)
  if (!at) throw wrong('expires_at', timeRule)
  if (at.getTime() <= Date.now()) throw wrong('expires_at', 'must be in the future')
  return at
}

const wrong = refusing('invalid_parameter')
