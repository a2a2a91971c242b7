import { hash } from 'node:crypto'
import { type AgentsOptions, createAgents } from './a2a/a2a.ts'
import { createCampaigns } from './campaigns/campaigns.ts'
import { createDevices, lockDevicesOf } from './devices/devices.ts'
import { createEvents, moveHistory } from './events/events.ts'
import { createGateways, type Sender } from './gateways/gateways.ts'
import {
  countMinute,
  createDelivery,
  createPauses,
  moveMessages,
  type OnOutcomes,
  parsePushItems
} from './messages/messages.ts'
import type { Config } from './platform/config.ts'
import type { Db, Pool } from './platform/db/db.ts'
import type { Listener } from './platform/db/listen.ts'
import { together } from './platform/db/together.ts'
import { Refusal } from './platform/errors.ts'
import type { ProjectId } from './platform/ids.ts'
import { add } from './platform/jobs/jobs.ts'
import type { Log } from './platform/log.ts'
import type { Metrics } from './platform/metrics.ts'
import { eraseProjectJob } from './projects/jobs.ts'
import * as tenants from './projects/projects.ts'
import { createSimulators } from './simulator/fleet/fleet.ts'
import {
  countOutcomes,
  createTriggers,
  type EndedTrigger,
  type OnEnded,
  removeHeld,
  tellEnded
} from './triggers/triggers.ts'
import { createUsers } from './users/users.ts'
import { createWebhooks } from './webhooks/webhooks.ts'

/** What tests and the conformance agent put in the place of the real parts. */
export interface Given {
  /** Instead of the real gateways. */
  sender?: Sender
  /** Told of every message that ends, beside those who always are. */
  onOutcomes?: OnOutcomes
  /** Instead of what agents would use otherwise. */
  agents?: Partial<Pick<AgentsOptions, 'moreSkills' | 'mostStreams' | 'enqueue' | 'refuseAddress' | 'readText'>> &
    Partial<AgentsOptions['does']>
}

export interface House {
  config: Config
  pool: Pool
  listener: Listener
  log: Log
  metrics: Metrics
  /** The master key. */
  key: Buffer
  /** What this process is called in the list of nodes. */
  nodeId: string
  /** Closed in the opposite order. */
  opened: (() => Promise<unknown>)[]
}

export type Rooms = ReturnType<typeof createRooms>

/** Makes the capabilities, from left to right, and tells each what it must know of those further right. */
export function createRooms({ config, pool, listener, log, metrics, key, opened, nodeId }: House, given: Given) {
  const stopMs = config.SHUTDOWN_SECONDS * 1000
  const credentials = tenants.createCredentials({
    pool,
    listener,
    toProject: tenants.toProject(config.PLANS),
    log,
    metrics
  })
  opened.push(credentials.close)
  const devices = createDevices({
    pool,
    metrics,
    moveHistory: async (tx, projectId, from, to) => {
      await moveHistory(tx, projectId, from, to)
      await moveMessages(tx, projectId, from, to)
    },
    beforeRemoval: (tx, projectId, userIds) => beforeRemoval(tx, projectId, userIds)
  })
  const simulators = createSimulators({ pool, listener, log, key, devicesOf: devices.ofTokens })
  opened.push(simulators.close)
  // Settled-2, 9: on the machine of a developer, simulated projects call receivers on it. An address for others, or a
  // proxy, means that others use the service too, and this machine is not theirs to call.
  const alone = config.PUBLIC_URL === undefined && config.TRUST_PROXY === false
  const webhooks = createWebhooks({
    pool,
    metrics,
    key,
    allowPrivate: config.WEBHOOK_ALLOW_PRIVATE === true,
    mayBeLocal: async (projectId) =>
      alone && config.WEBHOOK_ALLOW_PRIVATE !== false && (await credentials.project(projectId))?.mode === 'simulator'
  })
  opened.push(async () => webhooks.close())

  // How many processes work is known when this one has joined them.
  const cluster = { workers: () => 1 }
  const pauses = createPauses(pool, (projectId) => credentials.project(projectId))
  const gateways = createGateways({
    pool,
    listener,
    log,
    metrics,
    key,
    projectOf: credentials.project,
    simulated: simulators.of,
    fcmPerSecond: config.FCM_PER_SECOND,
    senders: () => cluster.workers(),
    isPaused: pauses.isPaused,
    sender: given.sender
  })
  const bookEnded: OnEnded = async (tx, projectId, triggers) => {
    for (const { id, campaign_id, state, counts } of triggers) {
      await webhooks.onTriggerEnded(tx, projectId, { triggerId: id, campaignId: campaign_id, state, counts })
    }
  }
  const onEnded: OnEnded = async (tx, projectId, triggers) => {
    await tellEnded(tx, projectId, triggers)
    await bookEnded(tx, projectId, triggers)
  }
  const delivery = createDelivery({
    pool,
    sender: gateways.sender,
    log,
    metrics,
    idempotencyHours: config.IDEMPOTENCY_HOURS,
    presence: listener.presence,
    nodeId,
    pauses,
    isSimulated: async (projectId, tx) => (await credentials.project(projectId, tx))?.mode === 'simulator',
    onOutcomes: async (tx, projectId, changes) => {
      const ended: EndedTrigger[] = []
      const keepEnded: OnEnded = async (tx, projectId, triggers) => {
        await tellEnded(tx, projectId, triggers)
        ended.push(...triggers)
      }
      // Sent together: one after the other each would wait for its turn in a busy process.
      await together(
        countOutcomes(keepEnded)(tx, projectId, changes),
        webhooks.onOutcomes(tx, projectId, changes),
        countMinute(tx, projectId, changes)
      )
      // Whoever is told hears of the last messages first, and then that this was all.
      await bookEnded(tx, projectId, ended)
      await given.onOutcomes?.(tx, projectId, changes)
    }
  })
  opened.push(() => delivery.close(stopMs))
  opened.push(() => gateways.sender.close(stopMs))

  /** A function declaration, because devices need it before messages exist to be removed. */
  async function beforeRemoval(tx: Db, projectId: ProjectId, userIds: string[]): Promise<void> {
    await lockDevicesOf(tx, projectId, userIds)
    await delivery.removeOfUsers(tx, projectId, userIds)
    await removeHeld(tx, projectId, userIds, onEnded)
  }
  const users = createUsers({ pool, metrics, beforeRemoval })
  const events = createEvents({ pool, devices, metrics, onPushReports: delivery.recordReports })
  const campaigns = createCampaigns({ pool, metrics, delivery })
  opened.push(campaigns.close)
  const triggers = createTriggers({
    pool,
    listener,
    metrics,
    delivery,
    campaigns,
    idempotencyHours: config.IDEMPOTENCY_HOURS,
    workers: () => cluster.workers(),
    onEnded
  })
  const agents = createAgents({
    pool,
    listener,
    log,
    metrics,
    key,
    does: {
      createUser: async (projectId, projectUserId, properties) => ({
        userId: (await users.create(projectId, projectUserId, properties)).id
      }),
      createUsers: async (tx, projectId, entries) =>
        (await users.createIn(tx, projectId, entries)).map((one) =>
          one instanceof Refusal ? one : { userId: one.id }
        ),
      trackEvent: (projectId, event) => events.track(projectId, event),
      sendPush: (projectId, body, runId) => delivery.sendNow(projectId, parsePushItems(body), keyOfRun(runId, body)),
      triggerCampaign: async (projectId, campaignId, body, runId) =>
        (await triggers.accept(projectId, campaignId, body, keyOfRun(runId, body))).answer,
      ...given.agents
    },
    enqueue: webhooks.enqueue,
    dropCalls: webhooks.dropCalls,
    refuseAddress: webhooks.refuse,
    ...given.agents,
    publicUrl: config.PUBLIC_URL,
    markTenant: config.A2A_TENANT_MARK,
    idempotencyHours: config.IDEMPOTENCY_HOURS,
    retentionDays: config.TASK_RETENTION_DAYS,
    textModel: textModelOf(config)
  })
  opened.push(agents.close)

  // What belongs to others goes first: a cascade over all of it would be one long transaction.
  const rooms = [agents, webhooks, triggers, campaigns, delivery, events, devices, users]
  const erasure = eraseProjectJob(
    pool,
    rooms.map(({ eraseWindow }) => eraseWindow)
  )
  const projects = tenants.createProjects({
    pool,
    plans: config.PLANS,
    credentials,
    log,
    scheduleErasure: (tx, projectId) => add(tx, erasure, { projectId }, { projectId, key: projectId }),
    onResume: async (tx, projectId) => {
      await delivery.resume(tx, projectId)
      await triggers.resume(tx, projectId)
    }
  })

  return {
    credentials,
    projects,
    erasure,
    users,
    devices,
    events,
    simulators,
    webhooks,
    gateways,
    delivery,
    campaigns,
    triggers,
    agents,
    cluster
  }
}

const textModelOf = (config: Config) =>
  config.TEXT_MODEL_URL === undefined
    ? undefined
    : {
        url: config.TEXT_MODEL_URL,
        name: config.TEXT_MODEL_NAME!,
        key: config.TEXT_MODEL_KEY,
        seconds: config.TEXT_MODEL_SECONDS
      }

/** A task that is taken up again after a crash asks under the same key, and nothing is sent twice. */
const keyOfRun = (runId: string, body: unknown) => ({
  scope: 'task',
  key: runId,
  fingerprint: hash('sha256', JSON.stringify(body), 'hex')
})
