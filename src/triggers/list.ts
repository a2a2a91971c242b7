import { type Static, Type } from '@sinclair/typebox'
import { Refusal } from '../platform/errors.ts'
import { defaultLimit, encodeCursor, idAfter, page, pageQuery } from '../platform/http/paging.ts'
import { firstIdAt, type ProjectId } from '../platform/ids.ts'
import { instantText } from '../platform/time.ts'
import { instantRule } from '../segments/segments.ts'
import { triggerResponse } from './response.ts'
import { State } from './schemas.ts'
import type { Triggers } from './triggers.ts'

export const TriggerQuery = Type.Object({
  ...pageQuery,
  campaign_id: Type.Optional(Type.String({ maxLength: 1024, description: 'Only those of this campaign.' })),
  state: Type.Optional(State),
  accepted_after: Type.Optional(
    Type.String({
      description: 'Only those since then: a date or a time in ISO 8601, in UTC unless it says otherwise.'
    })
  ),
  accepted_before: Type.Optional(Type.String({ description: 'Only those before then.' }))
})

/** Newest first. The id of a trigger tells when it was accepted, so times are places in the list. */
export async function listPage(triggers: Triggers, projectId: ProjectId, query: Static<typeof TriggerQuery>) {
  const { limit = defaultLimit, cursor, campaign_id: campaignId, state } = query
  const from = firstAt('accepted_after', query.accepted_after)
  const until = firstAt('accepted_before', query.accepted_before)
  const after = idAfter(cursor)
  const before = after !== null && until !== null && until < after ? until : (after ?? until)
  const rows = await triggers.list(projectId, { campaignId, state, from }, before, limit + 1)
  return page(rows, limit, (row) => encodeCursor(row.id), triggerResponse)
}

function firstAt(path: string, text: string | undefined): string | null {
  if (text === undefined) return null
  const instant = instantText(text)
  if (instant === undefined)
    throw new Refusal('invalid_parameter', `${path}: ${instantRule}`, [{ path, message: instantRule }])
  return firstIdAt(Date.parse(instant))
}
