import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { decodeCursor, defaultLimit, encodeCursor, page, pageOf, pageQuery, timeOf } from '../platform/http/paging.ts'
import type { Routes } from '../platform/http/routes.ts'
import type { ManageAccess, ManageCaller } from '../projects/projects.ts'
import { CampaignShape } from './campaign-shape.ts'
import type { Campaigns } from './campaigns.ts'
import { TriggerBody } from './routes.ts'
import { type Expected, notFound, type Saved } from './saving.ts'
import { PreviewAnswer } from './shapes.ts'
import * as store from './store.ts'
import { checkCampaignId } from './trigger-request.ts'

/** As it is sent: what has a default may be left out. */
const CampaignBody = Type.Unsafe<unknown>({
  ...CampaignShape,
  required: ['name'],
  description: 'A campaign, as in a campaign file.'
})
const Answer = Type.Object({
  ...CampaignShape.properties,
  campaign_id: Type.String(),
  version: Type.Integer({ description: 'Counts up with every change. Send it as If-Match to change only this one.' }),
  created_at: Type.String(),
  updated_at: Type.String(),
  warnings: Type.Array(Type.String(), { description: 'What is saved but does not work yet.' })
})
const SavedAnswer = Type.Object({
  ...Answer.properties,
  result: Type.Unsafe<Saved['result']>({
    type: 'string',
    enum: ['created', 'updated', 'unchanged'],
    description: 'What saving it did. What is already there is not saved again.'
  })
})
const Version = Type.Object({
  version: Type.Integer({ description: 'Counts up with every change.' }),
  actor: Type.String(),
  created_at: Type.String(),
  campaign: Type.Unsafe<object>({ type: 'object', description: 'The campaign as it was.', additionalProperties: {} })
})
const Status = Type.Union(['draft', 'active', 'paused', 'archived'].map((status) => Type.Literal(status)))
const example = {
  campaign_id: 'welcome',
  name: 'Welcome',
  type: 'api_triggered',
  status: 'active',
  segment: { attribute: 'user.plan', operator: 'equals', value: 'premium' },
  default_audience: { broadcast: true },
  message: { title: 'Hello {{ user.id }}', body: 'Your code is {{ trigger.code }}.' }
}

const Count = (description: string) => Type.Integer({ description })
const Counts = Type.Object({
  triggers: Count('How often it was triggered.'),
  targeted: Count('Messages to devices, as of triggers.'),
  sent: Count('Accepted by a gateway.'),
  failed: Count('Refused for good, or given up.'),
  skipped: Count('Held back on purpose.'),
  delivered: Count('Reported by apps.'),
  tapped: Count('Reported by apps.')
})
const DraftBody = Type.Object({ campaign: CampaignBody, ...TriggerBody.properties })
const TestBody = Type.Object({
  device_ids: Type.Array(Type.String(), { description: '1 to 20 devices.' }),
  properties: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: {},
      description: 'As of a trigger: {{ trigger.name }}.'
    })
  )
})
const TestAnswer = Type.Object({
  delivery_results: Type.Array(Type.Unsafe<object>({ type: 'object', additionalProperties: {} }), {
    description: 'One for each device, as of messages:send.'
  })
})

/** Campaigns as people and files configure them. */
export function campaignManagementRoutes(
  manage: Routes<ManageCaller, ManageAccess>,
  { campaigns, pool }: { campaigns: Campaigns; pool: Pool }
): void {
  const { saving } = campaigns
  const path = '/projects/:project_id/campaigns'
  const one = `${path}/:campaign_id`
  const refusals = ['invalid_campaign_id', 'not_found'] as const

  manage.post(
    path,
    {
      summary: 'Create a campaign',
      access: 'editor',
      body: CampaignBody,
      checksBody: true,
      answer: SavedAnswer,
      status: 201,
      refusals: ['conflict', 'invalid_campaign', 'invalid_segment', 'invalid_template', 'invalid_campaign_id'],
      example
    },
    async ({ caller, body, reply }) => saved(reply, await saving.create(caller.project!.id, caller.actor, body))
  )

  manage.get(
    path,
    {
      summary: 'List campaigns',
      access: 'viewer',
      query: Type.Object({ ...pageQuery, status: Type.Optional(Status) }),
      answer: pageOf(Answer)
    },
    async ({ caller, query: { limit = defaultLimit, cursor, status } }) => {
      const after = cursor === undefined ? undefined : cursorParts(cursor)
      const rows = await store.listCampaigns(pool, caller.project!.id, status, after, limit + 1)
      return page(rows, limit, (row) => encodeCursor(row.created_at.toISOString(), row.id), wire)
    }
  )

  manage.get(
    one,
    { summary: 'Read a campaign', access: 'viewer', answer: Answer, refusals },
    async ({ caller, params, reply }) => {
      const row = await saving.get(caller.project!.id, params.campaign_id)
      return tagged(reply, row.version, wire(row))
    }
  )

  manage.put(
    one,
    {
      summary: 'Save a campaign, whether there is one of this id or not',
      access: 'editor',
      body: CampaignBody,
      checksBody: true,
      answer: SavedAnswer,
      refusals: ['conflict', 'invalid_campaign', 'invalid_segment', 'invalid_template', ...refusals],
      example
    },
    async ({ caller, params, body, request, reply }) =>
      saved(
        reply,
        await saving.replace(caller.project!.id, caller.actor, params.campaign_id, body, expectedOf(request))
      )
  )

  manage.delete(
    one,
    {
      summary: 'Archive a campaign: it can no longer be triggered, and its history stays',
      access: 'editor',
      answer: SavedAnswer,
      refusals: ['conflict', ...refusals]
    },
    async ({ caller, params, request, reply }) =>
      saved(reply, await saving.archive(caller.project!.id, caller.actor, params.campaign_id, expectedOf(request)))
  )

  manage.get(
    `${one}/versions`,
    {
      summary: 'List the versions of a campaign',
      access: 'viewer',
      query: Type.Object(pageQuery),
      answer: pageOf(Version),
      refusals
    },
    async ({ caller, params, query: { limit = defaultLimit, cursor } }) => {
      const projectId = caller.project!.id
      const id = checkCampaignId(params.campaign_id)
      await saving.get(projectId, id)
      const before = cursor === undefined ? null : versionOf(decodeCursor(cursor, 1)[0]!)
      const rows = await store.listVersions(pool, projectId, id, before, limit + 1)
      return page(
        rows,
        limit,
        (row) => encodeCursor(String(row.version)),
        ({ definition, ...row }) => ({ ...row, campaign: definition })
      )
    }
  )

  manage.get(
    `${one}/versions/:version`,
    {
      summary: 'Read a campaign as it was in a version',
      access: 'viewer',
      params: { version: 'The number of the version.' },
      answer: Version,
      refusals
    },
    async ({ caller, params }) => {
      const id = checkCampaignId(params.campaign_id)
      const { version } = params
      const known = version !== undefined && wholeVersion.test(version)
      // The list of one that begins with it.
      const [row] = known ? await store.listVersions(pool, caller.project!.id, id, Number(version) + 1, 1) : []
      if (!row || row.version !== Number(version)) throw new Refusal('not_found', 'There is no such version.')
      const { definition, ...rest } = row
      return { ...rest, campaign: definition }
    }
  )

  manage.get(
    `${one}/counts`,
    {
      summary: 'What all triggers of a campaign have counted, also those that are no longer kept',
      access: 'viewer',
      answer: Counts,
      refusals
    },
    async ({ caller, params }) => {
      const found = await store.totalsOf(pool, caller.project!.id, checkCampaignId(params.campaign_id))
      if (!found) throw notFound()
      return found
    }
  )

  manage.post(
    `${path}::preview`,
    {
      summary: 'See what a trigger of a campaign that is not saved would do, without doing it',
      access: 'viewer',
      body: DraftBody,
      checksBody: true,
      answer: PreviewAnswer,
      refusals: ['invalid_trigger', 'invalid_campaign', 'invalid_segment', 'invalid_template'],
      example: { campaign: example, audience: { broadcast: true }, properties: { code: 'SPRING' } }
    },
    ({ caller, body }) => {
      const { campaign, ...trigger } = (isObject(body) ? body : {}) as Record<string, unknown>
      return campaigns.previewDraft(caller.project!.id, campaign, trigger)
    }
  )

  manage.post(
    `${path}/:campaign_id(^[\\s\\S]*?)::test`,
    {
      summary: 'Send a campaign to chosen devices now, whatever its segment, status and rules',
      access: 'editor',
      body: TestBody,
      answer: TestAnswer,
      refusals: ['invalid_parameter', 'invalid_template', ...refusals],
      example: { device_ids: ['ana-phone'], properties: { code: 'SPRING' } }
    },
    async ({ caller, params, body }) => ({
      delivery_results: await campaigns.testSend(caller.project!.id, params.campaign_id, body)
    })
  )
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function cursorParts(cursor: string): [Date, string] {
  const [at, id] = decodeCursor(cursor, 2)
  return [timeOf(at!), checkCampaignId(id)]
}

const wholeVersion = /^[1-9]\d{0,8}$/

function versionOf(text: string): number {
  if (!wholeVersion.test(text)) throw new Refusal('invalid_parameter', 'cursor: is not one that was given out')
  return Number(text)
}

/** The version in If-Match, as we send it in ETag, or bare as people type it. */
function expectedOf(request: FastifyRequest): Expected {
  const given = request.headers['if-match']
  if (given === undefined) return undefined
  if (given.trim() === '*') return '*'
  const version = /^\s*(?:W\/)?(?:"(\d{1,9})"|(\d{1,9}))\s*$/.exec(given)
  // Whatever else is named there is no version of ours, so it cannot be the current one.
  return version ? Number(version[1] ?? version[2]) : -1
}

const waiting = { scheduled: 'on a schedule', event_triggered: 'by events' } as const

function wire(row: store.CampaignRow) {
  const { type } = row.definition
  return {
    ...row.definition,
    campaign_id: row.id,
    version: row.version,
    created_at: row.created_at,
    updated_at: row.updated_at,
    warnings:
      type === 'api_triggered' ? [] : [`Campaigns of the type ${type} are kept, but do not run ${waiting[type]} yet.`]
  }
}

function saved(reply: FastifyReply, { row, result }: Saved) {
  return tagged(reply, row.version, { ...wire(row), result })
}

function tagged<Body>(reply: FastifyReply, version: number, body: Body): Body {
  reply.header('etag', `"${version}"`)
  return body
}
