import { Type } from '@sinclair/typebox'
import { Refusal } from '../../platform/errors.ts'
import {
  decodeCursor,
  defaultLimit,
  encodeCursor,
  PageQuery,
  page,
  pageOf,
  timeOf
} from '../../platform/http/paging.ts'
import { largestBody, type Routes } from '../../platform/http/routes.ts'
import { untilGone } from '../../platform/http/streams/gone.ts'
import type { ManageAccess, ManageCaller } from '../../projects/projects.ts'
import type { SavedSegments } from '../segments.ts'
import { checkSegmentId, notFound } from './saved.ts'
import {
  CountAnswer,
  DraftSegmentBody,
  ListedSegment,
  SavedAnswer,
  SegmentAnswer,
  SegmentBody,
  SizeAnswer,
  segmentExample
} from './schemas.ts'
import type { SavedRow } from './store.ts'

const path = '/projects/:project_id/segments'
const one = `${path}/:segment_id`
const params = { segment_id: 'The id of the saved segment, 1 to 255 characters of your choice, percent-encoded.' }
const refusals = ['not_found', 'invalid_parameter'] as const

/** Routes for saved segments and their sizes. */
export function segmentRoutes(manage: Routes<ManageCaller, ManageAccess>, segments: SavedSegments): void {
  const { saving, sizes } = segments

  manage.get(
    path,
    { summary: 'List saved segments', access: 'viewer', query: PageQuery, answer: pageOf(ListedSegment) },
    async ({ caller, query: { limit = defaultLimit, cursor } }) => {
      const [at, id] = cursor === undefined ? [] : decodeCursor(cursor, 2)
      const rows = await saving.list(caller.project!.id, at === undefined ? undefined : [timeOf(at), id!], limit + 1)
      return page(rows, limit, (row) => encodeCursor(row.created_at.toISOString(), row.id), wire)
    }
  )

  manage.put(
    one,
    {
      operationId: 'saveProjectSegment',
      summary: 'Create or replace a saved segment; campaigns that use it get a new version',
      access: 'editor',
      params,
      body: SegmentBody,
      maxBody: largestBody,
      answer: SavedAnswer,
      refusals: ['invalid_segment', 'conflict', 'invalid_parameter'],
      example: segmentExample
    },
    async ({ caller, params: { segment_id }, body }) => {
      const { campaigns, result, ...row } = await saving.put(caller.project!.id, caller.actor, segment_id, body)
      return { ...wire(row), campaigns, result }
    }
  )

  manage.get(
    one,
    { summary: 'Read a saved segment', access: 'viewer', params, answer: SegmentAnswer, refusals },
    async ({ caller, params: { segment_id } }) => {
      const { campaigns, ...row } = await saving.get(caller.project!.id, segment_id)
      return { ...wire(row), campaigns }
    }
  )

  manage.delete(
    one,
    {
      summary: 'Delete a saved segment; refused while a campaign or another saved segment uses it',
      access: 'editor',
      params,
      answer: Type.Object({}),
      refusals: ['conflict', ...refusals]
    },
    async ({ caller, params: { segment_id } }) => {
      await saving.remove(caller.project!.id, caller.actor, segment_id)
      return {}
    }
  )

  manage.get(
    `${one}/sizes`,
    {
      summary: 'List the daily sizes of a saved segment, the newest first',
      access: 'viewer',
      params,
      query: PageQuery,
      answer: pageOf(SizeAnswer),
      refusals
    },
    async ({ caller, params: { segment_id }, query: { limit = defaultLimit, cursor } }) => {
      const before = cursor === undefined ? null : dayOf(decodeCursor(cursor, 1)[0]!)
      const { id } = await saving.get(caller.project!.id, segment_id)
      const rows = await sizes.list(caller.project!.id, id, before, limit + 1)
      return page(
        rows,
        limit,
        ({ day }) => encodeCursor(day),
        (row) => row
      )
    }
  )

  manage.post(
    `${path}::count`,
    {
      operationId: 'countProjectSegmentDraft',
      summary: 'Count a segment that is not saved, for up to three seconds',
      access: 'viewer',
      body: DraftSegmentBody,
      maxBody: largestBody,
      answer: CountAnswer,
      refusals: ['invalid_segment'],
      example: { segment: segmentExample.segment }
    },
    ({ caller, body, reply }) => sizes.countDraft(caller.project!.id, body.segment, untilGone(reply))
  )

  manage.post(
    `${path}/:segment_id(^[\\s\\S]*?)::count`,
    {
      summary: 'Count a saved segment now, for up to three seconds',
      access: 'viewer',
      params,
      answer: CountAnswer,
      refusals
    },
    async ({ caller, params: { segment_id } }) => {
      const id = checkSegmentId(segment_id)
      const size = await sizes.count(caller.project!.id, id)
      if (!size) throw notFound(id)
      return size
    }
  )
}

const wire = ({ id, name, segment, version, created_at, updated_at }: SavedRow) => ({
  segment_id: id,
  name,
  segment,
  version,
  created_at,
  updated_at
})

function dayOf(text: string): string {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || Number.isNaN(Date.parse(text)))
    throw new Refusal('invalid_parameter', 'cursor: is not one that was given out')
  return text
}
