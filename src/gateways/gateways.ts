import type { Config } from '../platform/config/config.ts'
import type { Pool } from '../platform/db/db.ts'
import type { Listener } from '../platform/db/listen.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { Mode } from '../projects/projects.ts'
import { simulatedTopic } from '../simulator/simulator.ts'
import { createCheck } from './credentials/check.ts'
import { createGatewayCredentials } from './credentials/credentials.ts'
import { createProviderTokens } from './credentials/provider-tokens.ts'
import type { Simulated } from './credentials/simulated.ts'
import { createCredentialSource } from './credentials/source.ts'
import type { PushEnvironment, Sender } from './push.ts'
import { createSender } from './sender/sender.ts'
import { framed } from './transport/framing/open.ts'
import { nodeHttp2 } from './transport/node-http2.ts'

export { gatewayRoutes } from './credentials/routes.ts'
export {
  activityEndpoint,
  addressesActivity,
  type Endpoint,
  isRegistered,
  pushEndpoint,
  usualGateway
} from './endpoint.ts'
export { payloadSize } from './payload-size.ts'
export type {
  Action,
  ActivityChange,
  ActivityStart,
  ChannelContent,
  Content,
  GatewayName,
  InterruptionLevel,
  Notification,
  Outcome,
  Push,
  PushEnvironment,
  Sender
} from './push.ts'
export { type FailureCode, failureReason, failureReasons } from './reasons.ts'

export type Gateways = ReturnType<typeof createGateways>

export interface GatewaysOptions {
  pool: Pool
  listener: Listener
  log: Log
  metrics: Metrics
  /** The master key. */
  key: Buffer
  config: Pick<Config, 'FCM_PER_SECOND' | 'GATEWAY_HTTP2'>
  credentials: { project(projectId: ProjectId): Promise<{ mode: Mode } | undefined> }
  simulators: { of: Simulated }
  pauses: { isPaused(projectId: ProjectId): boolean }
  /** The number of processes that send, which share the quotas. */
  cluster: { workers(): number }
  /** Replaces the real sender in tests. */
  sender?: Sender | undefined
}

/** Sends to Apple, Google and the push services of browsers, and keeps the credentials for them. */
export function createGateways(options: GatewaysOptions) {
  const { pool, listener, log, metrics, key, config, credentials, simulators, pauses, cluster } = options
  const source = createCredentialSource({
    pool,
    listener,
    key,
    projectOf: credentials.project,
    simulated: simulators.of
  })
  const providerTokens = createProviderTokens({ pool, key, log })
  return {
    /** The bundle id of an app that the project can send to at Apple; undefined if it has no credential for it. */
    async bundleOf(projectId: ProjectId, environment: PushEnvironment, app: string | undefined) {
      const project = await credentials.project(projectId)
      if (project?.mode === 'simulator') return app ?? simulatedTopic
      const found = project && (await source.find(projectId, 'apns', environment, app ?? null))
      return found?.gateway === 'apns' && found.topic === (app ?? found.topic) ? found.topic : undefined
    },
    credentials: createGatewayCredentials({ pool, key, check: createCheck(providerTokens), changed: source.forget }),
    sender:
      options.sender ??
      createSender({
        credentials: source,
        providerTokens,
        log,
        metrics,
        transport: config.GATEWAY_HTTP2 === 'node' ? nodeHttp2 : framed,
        settings: { fcmPerSecond: config.FCM_PER_SECOND },
        senders: () => cluster.workers(),
        isPaused: pauses.isPaused
      })
  }
}
