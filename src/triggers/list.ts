import { type Static, Type } from '@sinclair/typebox'
import { Refusal } from '../platform/errors.ts'
import { defaultLimit, encodeCursor, idAfter, page, pageQuery } from '../platform/http/paging.ts'
import type { ProjectId } from '../platform/ids.ts'
import { instantText } from '../platform/time.ts'
import { instantRule } from '../segments/segments.ts'
import { triggerResponse } from './response.ts'
import { State } from './schemas.ts'
import type { Triggers } from './triggers.ts'

export const TriggerQuery = Type.Object({
  ...pageQuery,
  campaign_id: Type.Optional(Type.String({ maxLength: 1024, description: 'Only triggers of this campaign.' })),
  state: Type.Optional(State),
  accepted_after: Type.Optional(
    Type.String({
      description: 'Only triggers accepted since then: a date or a time in ISO 8601, in UTC unless it has an offset.'
    })
  ),
  accepted_before: Type.Optional(Type.String({ description: 'Only triggers accepted before then.' }))
})

/** One page of triggers, the newest first: by acceptance, and scheduled ones by the time they are scheduled for. */
export async function listRows(triggers: Triggers, projectId: ProjectId, query: Static<typeof TriggerQuery>) {
  const { limit = defaultLimit, cursor, campaign_id: campaignId, state } = query
  const from = timeIn('accepted_after', query.accepted_after)
  const until = timeIn('accepted_before', query.accepted_before)
  const rows = await triggers.list(projectId, { campaignId, state, from, until }, idAfter(cursor), limit + 1)
  return page(
    rows,
    limit,
    (row) => encodeCursor(row.id),
    (row) => row
  )
}

export async function listPage(triggers: Triggers, projectId: ProjectId, query: Static<typeof TriggerQuery>) {
  const { items, ...rest } = await listRows(triggers, projectId, query)
  return { items: items.map(triggerResponse), ...rest }
}

function timeIn(path: string, text: string | undefined): Date | null {
  if (text === undefined) return null
  const instant = instantText(text)
  if (instant === undefined)
    throw new Refusal('invalid_parameter', `${path}: ${instantRule}`, [{ path, message: instantRule }])
  return new Date(instant)
}
