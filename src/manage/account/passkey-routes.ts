import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { checkFresh, type Doors, deviceOf, type Members, memberIdOf, type PasskeyRow } from '../../members/members.ts'
import { Refusal } from '../../platform/errors.ts'
import type { Routes } from '../../platform/http/routes.ts'
import type { ManageAccess, ManageCaller } from '../../projects/projects.ts'
import { Name, NewPasskey, PasskeyAnswer, passkeyBytes } from '../member-schemas.ts'
import { known } from '../responses.ts'

export interface PasskeyNeeds {
  members: Members
  doors: Doors
  /** The address of the service as the browser of a request sees it. */
  baseUrlOf: (request: FastifyRequest) => string
}

const noPasskey = () => new Refusal('not_found', 'There is no such passkey.')

/** The passkeys of the member that calls. */
export function passkeyRoutes(
  manage: Routes<ManageCaller, ManageAccess>,
  { members, doors, baseUrlOf }: PasskeyNeeds
): void {
  const { passkeys } = doors
  /** The member, if it may add a way to sign in: a provider's groups decide about those whom it signs in. */
  async function holderOf(caller: ManageCaller): Promise<string> {
    const memberId = memberIdOf(caller)
    checkFresh(caller)
    if (await doors.providerOf(memberId))
      throw new Refusal('forbidden', 'You sign in with an identity provider, and with nothing else.')
    return memberId
  }

  manage.get(
    '/account/passkeys',
    {
      internal: true,
      summary: 'List your passkeys, as a signed-in member',
      access: 'viewer',
      answer: Type.Object({ items: Type.Array(PasskeyAnswer) }),
      refusals: ['forbidden']
    },
    async ({ caller }) => ({ items: (await passkeys.list(memberIdOf(caller))).map(wirePasskey) })
  )

  manage.post(
    '/account/passkeys::options',
    {
      internal: true,
      summary: 'Begin to add a passkey, as a member who has signed in within the last 15 minutes',
      access: 'viewer',
      answer: Type.Unsafe<object>({
        type: 'object',
        description: 'PublicKeyCredentialCreationOptionsJSON of WebAuthn.'
      }),
      refusals: ['invalid_parameter', 'forbidden', 'conflict']
    },
    async ({ caller, request, reply }) => {
      reply.header('cache-control', 'no-store')
      const handle = await holderOf(caller)
      const { name, email = '' } = caller.principal
      return passkeys.registrationOptions(baseUrlOf(request), { handle, name, email }, handle)
    }
  )

  manage.post(
    '/account/passkeys',
    {
      internal: true,
      summary: 'Add a passkey',
      access: 'viewer',
      body: NewPasskey,
      maxBody: passkeyBytes,
      answer: PasskeyAnswer,
      status: 201,
      refusals: ['invalid_parameter', 'forbidden', 'conflict']
    },
    async ({ caller, body, request }) => {
      const memberId = await holderOf(caller)
      const store = await passkeys.check(baseUrlOf(request), memberId, {
        response: body.response,
        name: body.name ?? deviceOf(request.headers['user-agent'] ?? null)
      })
      const made = await members.change(async (tx) => {
        const stored = await store(tx, memberId)
        const details = { name: stored.name }
        await members.audit(tx, null, { actor: caller.actor, action: 'passkey.create', target: stored.id, details })
        return stored
      })
      return wirePasskey(made)
    }
  )

  manage.patch(
    '/account/passkeys/:passkey_id',
    {
      internal: true,
      summary: 'Rename a passkey of yours',
      access: 'viewer',
      body: Type.Object({ name: Name }),
      answer: PasskeyAnswer,
      refusals: ['forbidden', 'not_found'],
      example: { name: 'Laptop' }
    },
    async ({ caller, params, body }) => {
      const renamed = await passkeys.rename(memberIdOf(caller), known(params.passkey_id, 'passkey'), body.name.trim())
      if (!renamed) throw noPasskey()
      return wirePasskey(renamed)
    }
  )

  manage.delete(
    '/account/passkeys/:passkey_id',
    {
      internal: true,
      summary: 'Remove a passkey of yours',
      access: 'viewer',
      answer: Type.Object({}),
      refusals: ['forbidden', 'not_found', 'conflict']
    },
    async ({ caller, params }) => {
      const [memberId, id] = [memberIdOf(caller), known(params.passkey_id, 'passkey')]
      await members.change(async (tx) => {
        if (!(await passkeys.remove(tx, memberId, id))) throw noPasskey()
        await members.audit(tx, null, { actor: caller.actor, action: 'passkey.remove', target: id })
      })
      return {}
    }
  )
}

const wirePasskey = ({ id, name, created_at, last_used_at }: PasskeyRow) => ({ id, name, created_at, last_used_at })
