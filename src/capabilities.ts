import { join } from 'node:path'
import { type AgentsOptions, createAgents } from './a2a/a2a.ts'
import { createActivityChannels } from './activity-channels/activity-channels.ts'
import { campaignsOfTopic, createCampaigns } from './campaigns/campaigns.ts'
import { createDevices, lockWithUsers } from './devices/devices.ts'
import { createImports } from './devices/import/import.ts'
import { createEvents, type EventSubscriber, moveHistory } from './events/events.ts'
import { createGateways, type Sender } from './gateways/gateways.ts'
import { createIntake } from './intake/intake.ts'
import { createJourneys, moveJourneys, usersUnderWay } from './journeys/journeys.ts'
import { createPhoneReports } from './manage/phone-reports.ts'
import { createErasures } from './manage/privacy/erasing.ts'
import { createMcp } from './mcp/mcp.ts'
import { createDoors, createMembers, type MembersNeeds, peopleOf } from './members/members.ts'
import { createMessages, createPauses, moveMessages, type OnSettled } from './messages/messages.ts'
import { createOversight } from './oversight/oversight.ts'
import type { Config } from './platform/config/config.ts'
import type { Db, Pool } from './platform/db/db.ts'
import type { Listener } from './platform/db/listen.ts'
import type { ProjectId } from './platform/ids.ts'
import type { Reserved } from './platform/jobs/jobs.ts'
import { add } from './platform/jobs/jobs.ts'
import type { Log } from './platform/log.ts'
import type { Metrics } from './platform/metrics.ts'
import { localUrl } from './platform/net/local-url.ts'
import { createPreferences } from './preferences/preferences.ts'
import { eraseProjectJob } from './projects/jobs.ts'
import * as tenants from './projects/projects.ts'
import { discardJob } from './resuming/resuming.ts'
import { createSchedules } from './schedules/schedules.ts'
import { createSegments } from './segments/segments.ts'
import { createSimulators } from './simulator/fleet/fleet.ts'
import { createStats, moveConversions } from './stats/stats.ts'
import { canceledAmong, countOnTrigger, createTriggers } from './triggers/triggers.ts'
import { createUsers } from './users/users.ts'
import { createWebhooks } from './webhooks/webhooks.ts'

/** Parts that tests and the conformance agent replace. */
export interface Overrides {
  /** A cheap hash of passwords. */
  passwordCost?: MembersNeeds['cost']
  /** Replaces the real gateways. */
  sender?: Sender
  /** More subscribers of outcomes. */
  onSettled?: OnSettled[]
  /** More subscribers of events. */
  eventSubscribers?: EventSubscriber[]
  /** Replaces single options of the agents. */
  agents?: Partial<Pick<AgentsOptions, 'moreSkills' | 'streams' | 'enqueue' | 'refuseAddress' | 'readText'>> &
    Partial<AgentsOptions['does']>
}

/** The infrastructure of every capability. */
export interface Infrastructure {
  config: Config
  pool: Pool
  listener: Listener
  log: Log
  metrics: Metrics
  /** The master key. */
  key: Buffer
  /** The id of this process in the list of nodes. */
  nodeId: string
  /** Closers, called in the opposite order. */
  opened: (() => Promise<unknown>)[]
}

export type Capabilities = ReturnType<typeof createCapabilities>

/** What this process knows of others, and of its worker, once it has joined them. */
interface Cluster {
  workers(): number
  serving(): number
  /** A slot of the worker of this process; none in a process without one. */
  reserve(name: string): Reserved | undefined
}

/** Makes the capabilities from left to right. A capability that needs another further right gets a function. */
export function createCapabilities(infrastructure: Infrastructure, overrides: Overrides) {
  const { config, pool, listener, log, metrics, key, opened, nodeId } = infrastructure
  const stopMs = config.SHUTDOWN_SECONDS * 1000
  // The numbers of nodes are known once this process has joined the list of nodes.
  const cluster: Cluster = { workers: () => 1, serving: () => 1, reserve: () => undefined }
  const credentials = tenants.createCredentials({
    pool,
    listener,
    toProject: tenants.toProject(config.PLANS),
    people: peopleOf(pool),
    log,
    metrics
  })
  opened.push(credentials.close)
  const cookies = tenants.createCookies(config.PUBLIC_URL?.startsWith('https:') === true)
  const members = createMembers({
    pool,
    credentials,
    cookies,
    log,
    key,
    passwords: config.PASSWORD_SIGN_IN,
    auditDays: config.AUDIT_RETENTION_DAYS,
    serving: () => cluster.serving(),
    cost: overrides.passwordCost
  })
  const doors = createDoors({ pool, credentials, key, log }, config)
  const identity = tenants.createIdentity({ pool, key })
  const devices = createDevices({
    pool,
    metrics,
    moveHistory: async (tx, projectId, from, to) => {
      await moveHistory(tx, projectId, from, to)
      await moveMessages(tx, projectId, from, to)
      await moveConversions(tx, projectId, from, to)
      await moveJourneys(tx, projectId, from, to)
    },
    onOptedOut: (tx, projectId, userIds) => webhooks.onOptedOut(tx, projectId, userIds),
    beforeRemoval: (tx, projectId, userIds) => beforeRemoval(tx, projectId, userIds)
  })
  const simulators = createSimulators({
    pool,
    listener,
    log,
    key,
    devicesOf: devices.ofTokens,
    onReports: (projectId, reports) => phoneReports(projectId, reports)
  })
  opened.push(simulators.close)
  // Contract B.9: on the machine of a developer, simulated projects may call receivers on it. A public address or a
  // proxy means that other people use the service too, and they must not reach this machine.
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

  const pauses = createPauses(pool, credentials)
  const gateways = createGateways({
    pool,
    listener,
    log,
    metrics,
    key,
    config,
    credentials,
    simulators,
    pauses,
    cluster,
    sender: overrides.sender
  })
  const messages = createMessages({
    pool,
    carriers: gateways,
    log,
    metrics,
    idempotencyHours: config.IDEMPOTENCY_HOURS,
    presence: listener.presence,
    nodeId,
    journalFolder: join(config.DATA_DIR, 'outcomes'),
    pauses,
    canceledAmong,
    recheck: (projectId, rows) => triggers.recheck(projectId, rows),
    credentials,
    onSettled: [countOnTrigger(webhooks.onTriggersEnded), webhooks.onOutcomes, ...(overrides.onSettled ?? [])]
  })
  opened.push(() => messages.close(stopMs))
  opened.push(() => gateways.sender.close(stopMs))

  const activityChannels = createActivityChannels({
    pool,
    listener,
    log,
    pauses,
    gateways,
    idempotencyHours: config.IDEMPOTENCY_HOURS
  })

  /** A function declaration, because devices refer to it before messages are made. */
  async function beforeRemoval(tx: Db, projectId: ProjectId, userIds: string[]): Promise<void> {
    await lockWithUsers(tx, projectId, userIds)
    await messages.removeOfUsers(tx, projectId, userIds)
    await triggers.removeOfUsers(tx, projectId, userIds)
  }
  const users = createUsers({ pool, metrics, beforeRemoval, onOptedOut: webhooks.onOptedOut })
  const imports = createImports({ pool, users, devices })
  const events = createEvents({
    pool,
    devices,
    metrics,
    onPushReports: messages.recordReports,
    subscribers: () => [journeys.subscriber, stats.subscriber, ...(overrides.eventSubscribers ?? [])]
  })
  const intake = createIntake({ pool, users, devices, events, metrics })
  const phoneReports = createPhoneReports({ devices, events, log })
  const preferences = createPreferences({
    pool,
    devices,
    onOptedOut: webhooks.onOptedOut,
    campaignsOf: campaignsOfTopic
  })
  const segments = createSegments({
    pool,
    campaigns: {
      using: (db, projectId, segmentId) => campaigns.ofSegments.using(db, projectId, segmentId),
      renew: (tx, projectId, actor, segmentId) => campaigns.ofSegments.renew(tx, projectId, actor, segmentId)
    }
  })
  const campaigns = createCampaigns({
    pool,
    metrics,
    messages,
    projectOf: (projectId) => credentials.project(projectId),
    usersUnderWay,
    onSaved: (tx, projectId, row, before) => schedules.onSaved(tx, projectId, row, before)
  })
  opened.push(campaigns.close)
  const triggers = createTriggers({
    pool,
    listener,
    metrics,
    messages,
    campaigns,
    projectOf: (projectId) => credentials.project(projectId),
    idempotencyHours: config.IDEMPOTENCY_HOURS,
    workers: () => cluster.workers(),
    reserve: (name) => cluster.reserve(name),
    onTriggersEnded: webhooks.onTriggersEnded,
    sequences: () => journeys.sequences
  })
  const schedules = createSchedules({ pool, triggers, paused: messages.paused })
  const stats = createStats({ pool, campaigns, onConverted: webhooks.onConverted })
  const journeys = createJourneys({ pool, triggers, paused: messages.paused })
  // The port is known for certain once the service listens: it may be any free one.
  const address = { base: config.PUBLIC_URL ?? localUrl(config.HOST, config.PORT) }
  const oversight = createOversight({
    pool,
    metrics,
    campaigns,
    idempotencyHours: config.IDEMPOTENCY_HOURS,
    approvals: {
      projectOf: credentials.project,
      publish: webhooks.onApproval,
      onDecided: (tx, projectId, approval, decided) => agents.decided(tx, projectId, approval, decided),
      consoleUrl: () => `${address.base.replace(/\/+$/, '')}/console`,
      retentionDays: config.AUDIT_RETENTION_DAYS
    }
  })
  const erasures = createErasures({
    ...{ pool, key, users, devices },
    keeping: {
      taskDays: config.TASK_RETENTION_DAYS,
      auditDays: config.AUDIT_RETENTION_DAYS,
      idempotencyHours: config.IDEMPOTENCY_HOURS
    },
    forgetOutcomes: messages.forgetOutcomes,
    rejectApproval: oversight.approvals.rejectFor
  })
  const agents = createAgents({
    pool,
    listener,
    log,
    metrics,
    key,
    does: {
      users,
      devices,
      events,
      messages,
      campaigns,
      triggers,
      oversight,
      ...overrides.agents
    },
    projectOf: credentials.project,
    enqueue: webhooks.enqueue,
    dropCalls: webhooks.dropCalls,
    refuseAddress: webhooks.refuse,
    ...overrides.agents,
    publicUrl: config.PUBLIC_URL,
    markTenant: config.A2A_TENANT_MARK,
    cardKey: config.A2A_CARD_KEY,
    idempotencyHours: config.IDEMPOTENCY_HOURS,
    retentionDays: config.TASK_RETENTION_DAYS,
    textModel: textModelOf(config)
  })
  opened.push(agents.close)
  const mcp = createMcp({ agents, campaigns, triggers, log })

  // Rows of dependent capabilities are deleted first, in batches: a cascade would be one long transaction.
  const owners = [
    agents,
    oversight,
    stats,
    webhooks,
    journeys,
    triggers,
    campaigns,
    segments,
    activityChannels,
    messages,
    events,
    devices,
    users,
    members
  ]
  const erasure = eraseProjectJob(
    pool,
    owners.map(({ eraseWindow }) => eraseWindow)
  )
  const projects = tenants.createProjects({
    pool,
    plans: config.PLANS,
    credentials,
    log,
    scheduleErasure: (tx, projectId) => add(tx, erasure, { projectId }, { projectId, key: projectId }),
    onResume: async (tx, projectId) => {
      await messages.resume(tx, projectId)
      await triggers.resume(tx, projectId)
      await activityChannels.resume(tx, projectId)
      await journeys.resume(tx, projectId)
    }
  })

  // Events first, since they end journeys; triggers before messages, which they count.
  const owned = [events, agents, schedules, journeys, triggers, messages, activityChannels]
  const discard = discardJob(
    pool,
    owned.map((one) => one.discard)
  )

  return {
    credentials,
    cookies,
    members,
    doors,
    projects,
    erasure,
    discard,
    erasures,
    users,
    devices,
    imports,
    events,
    intake,
    simulators,
    webhooks,
    gateways,
    messages,
    activityChannels,
    identity,
    preferences,
    segments,
    campaigns,
    triggers,
    schedules,
    stats,
    journeys,
    oversight,
    agents,
    mcp,
    cluster,
    address
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
