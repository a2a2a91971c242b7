import type { ChannelChange } from '../channels/channels.ts'
import { type FailureCode, failureReason, type PushEnvironment, type Sender } from '../gateways/gateways.ts'
import type { DeliveryResult, Pauses } from '../messages/messages.ts'
import { type Discarding, discardedSentence } from '../platform/backup/paused.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import type { Listener } from '../platform/db/listen.ts'
import { Refusal } from '../platform/errors.ts'
import { claimKeys, type IdempotencyKey } from '../platform/idempotency/idempotency.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import { type ChangeRow, discardChanges, eraseChanges, findChange, findNewest, insertChange } from './change-store.ts'
import { addCreating, addServing, channelJobs, resumeChannels } from './jobs.ts'
import { resultOf } from './results.ts'
import * as store from './store.ts'
import { createWaiting, tellSettled } from './waiting.ts'

export { countWaitingChanges } from './change-store.ts'
export { channelQueue } from './jobs.ts'

export interface ActivityChannelsOptions {
  pool: Pool
  listener: Listener
  log: Log
  pauses: Pauses
  gateways: {
    sender: Sender
    bundleOf(projectId: ProjectId, environment: PushEnvironment, app: string | undefined): Promise<string | undefined>
  }
  idempotencyHours: number
}

export interface NewChannel {
  attributesType: string
  app: string | undefined
  environment: PushEnvironment
  stored: boolean
}

/** The longest life of an activity. */
const ttlSeconds = 8 * 3_600
/** A shorter time to live would be over before Apple can respond. */
const leastTtlSeconds = 10

export type ActivityChannels = ReturnType<typeof createActivityChannels>

/**
 * Broadcast channels of Live Activities: one request to Apple changes every activity that listens to a channel. A job
 * makes the requests, one at a time for each channel; callers wait for it.
 */
export function createActivityChannels(options: ActivityChannelsOptions) {
  const { pool, listener, log, pauses, gateways, idempotencyHours } = options
  const until = createWaiting(listener)

  /** Runs the work in a transaction with its key. A repeat returns what the first call stored with the key. */
  async function once<Work extends object>(
    projectId: ProjectId,
    key: IdempotencyKey | undefined,
    work: Work,
    begin: (tx: Db) => Promise<Work>
  ): Promise<{ work: Work; replayed: boolean }> {
    return pool.transaction(async (tx) => {
      if (!key) return { work: await begin(tx), replayed: false }
      const claims = await claimKeys<Work, never>(tx, projectId, [{ key, work }], idempotencyHours)
      const claim = claims.get(key.key)
      if (claim?.state === 'begun') return { work: await begin(tx), replayed: false }
      if (claim?.state === 'other')
        throw new Refusal('idempotency_key_reused', 'Idempotency key was used with another body')
      if (claim?.state !== 'running' || !claim.work)
        throw new Refusal('idempotency_key_in_use', 'Idempotency key is in use')
      return { work: claim.work, replayed: true }
    })
  }

  async function get(projectId: ProjectId, id: string): Promise<store.ChannelRow> {
    const row = await store.findChannel(pool, projectId, id)
    if (!row) throw new Refusal('not_found', 'There is no such channel.')
    return row
  }

  return {
    /** Creates a channel here and at Apple. It is returned as creating if Apple has not done it within 10 s. */
    async create(projectId: ProjectId, wanted: NewChannel, key?: IdempotencyKey) {
      const { environment } = wanted
      const app = await gateways.bundleOf(projectId, environment, wanted.app)
      if (app === undefined) throw new Refusal('channel_refused', noCredential(environment, wanted.app))
      const made = { ...wanted, id: newId(), app }
      const { work, replayed } = await once(projectId, key, { id: made.id }, async (tx) => {
        if (!(await store.insertChannel(tx, projectId, made, new Date())))
          throw new Refusal('not_found', 'There is no such project.')
        await addCreating(tx, projectId, { app, environment })
        return { id: made.id }
      })
      const isEnd = (row: store.ChannelRow | undefined) => row?.state !== 'creating'
      const paused = await pauses.paused(projectId)
      const look = () => store.findChannel(pool, projectId, work.id)
      const row = paused ? await look() : await until(work.id, look, isEnd)
      if (!row) throw new Refusal('not_found', 'The channel was deleted.')
      if (row.state === 'failed') {
        // A repeat of the key reads the reason from the row.
        if (!key) await store.removeChannel(pool, projectId, row.id)
        throw refusedBy(row)
      }
      return { row, replayed }
    },

    list: (projectId: ProjectId, before: string | null, limit: number) =>
      store.listChannels(pool, projectId, before, limit),

    /** The channel with its newest change. */
    async get(projectId: ProjectId, id: string) {
      const row = await get(projectId, id)
      return { row, newest: await findNewest(pool, projectId, id) }
    },

    /** Deletes a channel at Apple, then here. An absent one is fine. */
    async remove(projectId: ProjectId, id: string): Promise<void> {
      const found = await pool.transaction(async (tx) => {
        const row = await store.lockChannel(tx, projectId, id)
        if (row?.state === 'creating') throw new Refusal('conflict', 'The channel is still being created. Try again.')
        if (row?.state === 'failed') await store.removeChannel(tx, projectId, id)
        if (row?.state !== 'active') return row?.state === 'deleting'
        await store.beginRemovalOf(tx, projectId, id)
        await addServing(tx, projectId, id)
        return true
      })
      if (!found || (await pauses.paused(projectId))) return
      await until(
        id,
        () => store.findChannel(pool, projectId, id),
        (row) => row === undefined
      )
    },

    /** Changes or ends all activities that listen to the channel. Returns one result within 10 s. */
    async change(
      projectId: ProjectId,
      id: string,
      kind: ChangeRow['kind'],
      { activity, priority, ttlSeconds: ttl = ttlSeconds }: ChannelChange,
      { key, simulated }: { key?: IdempotencyKey | undefined; simulated: boolean }
    ): Promise<{ result: DeliveryResult; replayed: boolean }> {
      const messageId = newId()
      const notAfter = new Date(Date.now() + Math.max(ttl, leastTtlSeconds) * 1000)
      const { work, replayed } = await once(projectId, key, { id, messageId }, async (tx) => {
        const number = await insertChange(tx, projectId, id, { messageId, kind, activity, priority, notAfter })
        if (number === undefined) throw await absent(tx, projectId, id)
        await addServing(tx, projectId, id)
        return { id, messageId }
      })
      const look = () => findChange(pool, projectId, work.id, work.messageId)
      const paused = await pauses.paused(projectId)
      const isEnd = (row: ChangeRow | undefined) => row === undefined || row.settled_at !== null
      const row = paused ? await look() : await until(id, look, isEnd)
      return { result: resultOf(work.messageId, row, simulated), replayed }
    },

    jobs: channelJobs({ pool, sender: gateways.sender, log, pauses }),
    resume: resumeChannels,
    /** Cancels the changes that waited in a backup. */
    discard: (discarding: Discarding, projectId: ProjectId): Promise<void> =>
      discarding.write(async (tx) => {
        const channels = await discardChanges(tx, projectId, discarding, discardedSentence)
        for (const id of channels) await tellSettled(tx, id)
      }),
    async eraseWindow(db: Db, projectId: ProjectId): Promise<number> {
      return (await eraseChanges(db, projectId)) || store.eraseChannels(db, projectId)
    }
  }
}

const noCredential = (environment: PushEnvironment, app: string | undefined): string =>
  failureReason(
    'CREDENTIALS_MISSING',
    app === undefined
      ? `The project has no APNs credential for ${environment}, or several: then name the app.`
      : `The project has no APNs credential for ${app} in ${environment}.`
  )

const refusedBy = ({ reason, reason_message }: store.ChannelRow): Refusal =>
  new Refusal('channel_refused', failureReason(reason as FailureCode, reason_message ?? undefined))

async function absent(tx: Db, projectId: ProjectId, id: string): Promise<Refusal> {
  const row = await store.findChannel(tx, projectId, id)
  if (!row || row.state === 'deleting') return new Refusal('not_found', 'There is no such channel.')
  return new Refusal('conflict', 'Apple has not created the channel yet.')
}
