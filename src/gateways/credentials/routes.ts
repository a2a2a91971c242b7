import { Type } from '@sinclair/typebox'
import { Refusal } from '../../platform/errors.ts'
import type { Routes } from '../../platform/http/routes.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { ManageAccess, ManageCaller, NamesOf } from '../../projects/projects.ts'
import type { GatewayName } from '../push.ts'
import type { CheckResult, CredentialFacts, GatewayCredentials } from './credentials.ts'
import { gatewayNames } from './parse.ts'
import { CheckAnswer, CredentialAnswer, GatewayAnswer, SaveGateway } from './schemas.ts'

const path = '/projects/:project_id/gateways'
const params = { gateway: 'apns, fcm or webpush.' }
const code = 'invalid_credential' as const
const fieldCodes = Object.fromEntries(Object.keys(SaveGateway.properties).map((name) => [name, code]))

/** Routes for the credentials of gateways. Callers can store secrets, and read only facts about them. */
export function gatewayRoutes(
  manage: Routes<ManageCaller, ManageAccess>,
  gateways: GatewayCredentials,
  namesOf: NamesOf
): void {
  /** Credentials with the names of those who saved them. */
  const named = async (projectId: ProjectId, rows: CredentialFacts[]) => {
    const { nameOf } = await namesOf(
      projectId,
      rows.map((row) => row.updated_by)
    )
    return rows.map((row) => ({ ...wireCredential(row), updated_by_name: nameOf(row.updated_by) }))
  }

  manage.get(
    path,
    {
      summary: 'List the gateway credentials of a project, without their secrets',
      access: 'viewer',
      answer: Type.Object({ items: Type.Array(CredentialAnswer) })
    },
    async ({ caller }) => ({ items: await named(caller.project!.id, await gateways.list(caller.project!.id)) })
  )

  manage.get(
    `${path}/:gateway`,
    {
      summary: 'Read the credentials of a gateway, without their secrets',
      access: 'viewer',
      params,
      answer: GatewayAnswer
    },
    async ({ caller, params: { gateway } }) => {
      const name = known(gateway)
      const credentials = await named(caller.project!.id, await gateways.list(caller.project!.id, name))
      return { gateway: name, credentials }
    }
  )

  manage.put(
    `${path}/:gateway`,
    {
      operationId: 'saveProjectGateway',
      summary: 'Save a credential of a gateway; it is tried by signing with it once, and never shown again',
      access: 'admin',
      params,
      // More than the 64 KB that are read of a file, so that a wrong file is refused by name.
      maxBody: 512 * 1024,
      body: SaveGateway,
      fieldCodes,
      refusals: [code, 'conflict'],
      answer: GatewayAnswer,
      example: {
        key: '-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----\n',
        key_id: 'ABC123DEFG',
        team_id: 'DEF123GHIJ',
        topic: 'com.example.app',
        environment: 'both'
      }
    },
    async ({ caller, params: { gateway }, body }) => {
      const name = known(gateway)
      const saved = await gateways.save(caller.actor, caller.project!.id, name, body)
      return { gateway: name, credentials: await named(caller.project!.id, saved) }
    }
  )

  manage.delete(
    `${path}/:gateway`,
    {
      summary: 'Remove the credentials of a gateway, all of them or those of an environment or topic',
      access: 'admin',
      params,
      query: Type.Object({
        environment: Type.Optional(Type.String({ maxLength: 64, description: 'APNs: production or sandbox.' })),
        topic: Type.Optional(Type.String({ maxLength: 255, description: 'APNs: the bundle id.' }))
      }),
      answer: Type.Object({})
    },
    async ({ caller, params: { gateway }, query }) => {
      await gateways.remove(caller.actor, caller.project!.id, known(gateway), query)
      return {}
    }
  )

  manage.post(
    `${path}/:gateway(^[^:/]*)::check`,
    {
      summary: 'Ask the gateway whether it accepts the credentials; nothing is delivered',
      access: 'admin',
      params,
      answer: CheckAnswer
    },
    async ({ caller, params: { gateway } }) => {
      const name = known(gateway)
      const results = await gateways.check(caller.project!.id, name)
      return { gateway: name, ok: results.every(({ ok }) => ok), credentials: results.map(wireCredential) }
    }
  )
}

function known(gateway: string | undefined): GatewayName {
  const name = gatewayNames.find((each) => each === gateway)
  if (!name) throw new Refusal('not_found', `There is no such gateway: it is one of ${gatewayNames.join(', ')}.`)
  return name
}

function wireCredential(row: CredentialFacts & Partial<CheckResult>) {
  const { gateway, environment, app, facts: shown, ...rest } = row
  return { gateway, ...(environment && { environment }), ...(app && { topic: app }), ...shown, ...rest }
}
