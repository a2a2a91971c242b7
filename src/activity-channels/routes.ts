import { Type } from '@sinclair/typebox'
import { ChannelChangeBody, parseChannelChange } from '../channels/channels.ts'
import { ResultsAnswer, ResultsQuery, shownResult } from '../messages/messages.ts'
import { Refusal } from '../platform/errors.ts'
import { checkChosenId, FieldReader, isObject, refusing } from '../platform/fields.ts'
import { answerOnce, idempotencyKeyOf } from '../platform/http/idempotency.ts'
import { defaultLimit, encodeCursor, idAfter, PageQuery, page, pageOf } from '../platform/http/paging.ts'
import type { Routes } from '../platform/http/routes.ts'
import { isUuid } from '../platform/ids.ts'
import type { ApiAccess, ApiCaller } from '../projects/projects.ts'
import type { ActivityChannels, NewChannel } from './activity-channels.ts'
import { shownChannel, shownWithChange } from './results.ts'
import { ChannelAnswer, ChannelWithChange, CreateBody } from './schemas.ts'

/** Throws where the policy of the caller's key does not allow a change of a channel. */
type CheckChange = (caller: ApiCaller) => void

const path = '/live-activity-channels'
const params = { channel_id: 'The id of the channel in this service.' }
/** Leaves room for a `content_state` of 16 KiB with its escapes and the other fields. */
const maxBody = 64 * 1024

/** Contract B.4: broadcast channels of Live Activities. */
export function activityChannelRoutes(
  api: Routes<ApiCaller, ApiAccess>,
  channels: ActivityChannels,
  check: CheckChange
): void {
  api.post(
    path,
    {
      summary: 'Create a broadcast channel for Live Activities',
      body: CreateBody,
      checksBody: true,
      answer: ChannelAnswer,
      idempotent: true,
      refusals: ['invalid_live_activity', 'channel_refused'],
      example: { attributes_type: 'MatchAttributes', storage: 'most_recent' }
    },
    async ({ caller, body, request, reply }) => {
      const wanted = readNewChannel(body)
      const key = idempotencyKeyOf(request, 'live-activity-channels')
      if (caller.project.mode === 'simulator') reply.header('x-service-simulated', 'true')
      return shownChannel((await answerOnce(reply, () => channels.create(caller.project.id, wanted, key))).row)
    }
  )

  api.get(
    path,
    { summary: 'List broadcast channels of Live Activities', query: PageQuery, answer: pageOf(ChannelAnswer) },
    async ({ caller, query: { cursor, limit = defaultLimit } }) =>
      page(
        await channels.list(caller.project.id, idAfter(cursor), limit + 1),
        limit,
        ({ id }) => encodeCursor(id),
        shownChannel
      )
  )

  api.get(
    `${path}/:channel_id`,
    { summary: 'Read a channel with its newest change', params, answer: ChannelWithChange, refusals: ['not_found'] },
    async ({ caller, params }) => {
      const { row, newest } = await channels.get(caller.project.id, known(params.channel_id))
      return shownWithChange(row, newest)
    }
  )

  api.delete(
    `${path}/:channel_id`,
    { summary: 'Delete a channel, here and at Apple', params, answer: Type.Object({}), refusals: ['conflict'] },
    async ({ caller, params: { channel_id = '' } }) => {
      if (isUuid(channel_id)) await channels.remove(caller.project.id, channel_id.toLowerCase())
      return {}
    }
  )

  changeRoute({ api, channels, check }, 'update', 'Change all Live Activities of a channel, by one request to Apple')
  changeRoute({ api, channels, check }, 'end', 'End all Live Activities of a channel, by one request to Apple')
}

function changeRoute(
  { api, channels, check }: { api: Routes<ApiCaller, ApiAccess>; channels: ActivityChannels; check: CheckChange },
  verb: 'update' | 'end',
  summary: string
): void {
  api.post(
    `${path}/:channel_id([^:]+)::${verb}`,
    {
      summary,
      params,
      body: ChannelChangeBody,
      checksBody: true,
      maxBody,
      query: ResultsQuery,
      answer: ResultsAnswer,
      idempotent: true,
      refusals: ['invalid_live_activity', 'not_found', 'conflict'],
      example: { content_state: { home: 2, away: 1 } }
    },
    async ({ caller, params, body, query, request, reply }) => {
      check(caller)
      const id = known(params.channel_id)
      const change = parseChannelChange(body)
      const key = idempotencyKeyOf(request, `live-activity-channels/${id}:${verb}`)
      const simulated = caller.project.mode === 'simulator'
      if (simulated) reply.header('x-service-simulated', 'true')
      const { result } = await answerOnce(reply, () =>
        channels.change(caller.project.id, id, `activity-${verb}`, change, { key, simulated })
      )
      return { delivery_results: [shownResult(result, query.expand === 'devices')] }
    }
  )
}

/** A text that is not an id gets the same refusal as an unknown id. */
function known(id: string | undefined): string {
  if (id === undefined || !isUuid(id)) throw new Refusal('not_found', 'There is no such channel.')
  return id.toLowerCase()
}

const bundleRule = /^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/

/** All faults of the body at once. */
function readNewChannel(body: unknown): NewChannel {
  const refuse = refusing('invalid_live_activity')
  if (!isObject(body)) throw refuse('body', 'must be an object')
  const reader = new FieldReader(body, '', (path, message) => refuse(path.replace(/^\./, ''), message))
  const faults: Refusal[] = []
  const read = <Value>(value: () => Value): Value | undefined => {
    try {
      return value()
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      faults.push(error)
      return undefined
    }
  }
  const attributesType = read(() =>
    checkChosenId(reader.required('attributes_type'), 255, (message) => reader.refuse('attributes_type', message))
  )
  const app = read(() => readApp(reader))
  const environment = read(() => oneOf(reader, 'push_environment', ['production', 'sandbox'] as const, 'production'))
  const storage = read(() => oneOf(reader, 'storage', ['none', 'most_recent'] as const))
  const [first] = faults
  if (first)
    throw new Refusal(
      first.code,
      first.message,
      faults.flatMap(({ details }) => details)
    )
  return { attributesType: attributesType!, app, environment: environment!, stored: storage === 'most_recent' }
}

function readApp(reader: FieldReader): string | undefined {
  const app = reader.text('app', 155)
  if (app !== undefined && !bundleRule.test(app))
    throw reader.refuse('app', 'must be the bundle id of the app, for example com.example.app')
  return app
}

function oneOf<Value extends string>(
  reader: FieldReader,
  field: string,
  values: readonly Value[],
  usual?: Value
): Value {
  const given = usual === undefined ? reader.required(field) : (reader.text(field) ?? usual)
  const found = values.find((value) => value === given)
  if (found === undefined) throw reader.refuse(field, `must be ${values.join(' or ')}`)
  return found
}
