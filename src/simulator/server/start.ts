import { createApns, createChannelHost, manyStreams } from '../apns/apns.ts'
import { createChannels } from '../apns/channels.ts'
import type { ApnsEnvironment, ProviderKey } from '../apns/provider.ts'
import { type Credentials, createCredentials, keepCredentials, type ServiceAccount } from '../credentials.ts'
import { createFaults, type Faults } from '../faults/faults.ts'
import { createFcm, fcmStreams } from '../fcm/fcm.ts'
import type { Subscription } from '../webpush/crypto.ts'
import { createWebPush, type SubscriptionWish } from '../webpush/webpush.ts'
import { makeCertificates } from './certificates.ts'
import { startControl } from './control.ts'
import type { Gateway } from './gateway.ts'
import { type Around, createHandler } from './handler.ts'
import { createLedger, type GatewayName, type Ledger } from './ledger.ts'
import { type Listener, listen } from './listen.ts'

export interface SimulatorOptions {
  /** Where to listen; 127.0.0.1 unless given. */
  host?: string
  /** Keeps the authority and the credentials for the next start. They live in memory without it. */
  folder?: string
  /** Instead of new ones or those of the folder. */
  credentials?: Credentials
  /** Ports are picked unless given. `false` leaves a gateway out. */
  apns?: false | ApnsOptions
  fcm?: false | { port?: number; accounts?: ServiceAccount[]; accessTokenSeconds?: number; streams?: number }
  webpush?: false | { port?: number; streams?: number }
  /** The control server is there only if asked for. */
  control?: { port?: number }
  ledgerSize?: number
  /** Who a token belongs to, for the ledger. */
  deviceOf?: (gateway: GatewayName, token: string) => string | undefined
  /** Of the random faults. */
  seed?: number
}

interface ApnsOptions {
  port?: number
  sandboxPort?: number
  keys?: ProviderKey[]
  topics?: string[]
  streams?: 'real' | number
  /** The hosts that manage channels of Live Activities, for broadcasts: only if asked for. */
  channels?: { port?: number; sandboxPort?: number }
}

export interface Address {
  port: number
  /** TLS. */
  url: string
  /** The same port without TLS. */
  clearUrl: string
}

export interface Simulator {
  apns?: Address
  apnsSandbox?: Address
  apnsChannels?: Address
  apnsSandboxChannels?: Address
  fcm?: Address & { tokenUrl: string }
  webpush?: Address
  controlUrl?: string
  /** PEM of the authority that clients must trust. */
  ca: string
  ledger: Ledger
  faults: Faults
  /** A set of credentials that the gateways know: set a project up with it. */
  credentials: Credentials
  /** A browser that says yes. Throws where Web Push was left out. */
  createSubscription(wanted?: SubscriptionWish): Subscription
  close(): Promise<void>
}

/** Starts the gateways. They speak the real protocols and check what the real ones check; docs/guides/simulator.md has it all. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { host = '127.0.0.1', folder, apns = {}, fcm = {}, webpush = {} } = options
  const credentials = options.credentials ?? (folder ? await keepCredentials(folder) : await createCredentials())
  const { ca, ...certificates } = await makeCertificates({ host, folder })
  const ledger = createLedger(options.ledgerSize)
  const faults = createFaults(options.seed)
  const around: Around = { ledger, faults, deviceOf: options.deviceOf ?? (() => undefined) }
  const running: { close(): Promise<void> }[] = []

  async function open(gateway: Gateway, port: number | undefined, maxStreams: number): Promise<Address> {
    const listener: Listener = await listen({
      host,
      port: port ?? 0,
      ...certificates,
      maxStreams,
      http1: gateway.name !== 'apns',
      admits: () => !faults.get(gateway.name).down,
      needsTap: () => faults.needsTap(gateway.name),
      onRequest: createHandler(gateway, around)
    })
    running.push(listener)
    faults.onChange(() => {
      const { down, maxStreams: most, tlsExpired } = faults.get(gateway.name)
      if (down) listener.cut()
      listener.setMostStreams(most)
      listener.setExpired(tlsExpired)
    })
    const authority = `${host.includes(':') ? `[${host}]` : host}:${listener.port}`
    return { port: listener.port, url: `https://${authority}`, clearUrl: `http://${authority}` }
  }

  const close = async () => {
    await Promise.all(running.map((each) => each.close()))
  }
  try {
    const simulator: Simulator = {
      ca,
      ledger,
      faults,
      credentials,
      close,
      createSubscription() {
        throw new Error('Web Push was left out of this simulator.')
      }
    }
    if (apns) {
      const { keys = [], topics, streams = 'real', channels: hosts } = apns
      const rulesOf = (environment: ApnsEnvironment) => ({
        environment,
        channels: createChannels(),
        keys: [credentials.apns, ...keys],
        topics,
        streams
      })
      const [production, sandbox] = [rulesOf('production'), rulesOf('sandbox')]
      const first = streams === 'real' ? 1 : Math.max(1, streams || manyStreams)
      simulator.apns = await open(createApns(production), apns.port, first)
      simulator.apnsSandbox = await open(createApns(sandbox), apns.sandboxPort, first)
      if (hosts) {
        simulator.apnsChannels = await open(createChannelHost(production), hosts.port, manyStreams)
        simulator.apnsSandboxChannels = await open(createChannelHost(sandbox), hosts.sandboxPort, manyStreams)
      }
    }
    if (fcm) {
      const accounts = [credentials.fcm, ...(fcm.accounts ?? [])]
      const gateway = createFcm({
        accounts,
        accessTokenSeconds: fcm.accessTokenSeconds ?? 3_599,
        secret: credentials.seed
      })
      const address = await open(gateway, fcm.port, fcm.streams ?? fcmStreams)
      simulator.fcm = { ...address, tokenUrl: `${address.url}/token` }
      credentials.fcm.token_uri = simulator.fcm.tokenUrl
    }
    if (webpush) {
      const gateway = createWebPush(credentials.seed)
      const address = await open(gateway, webpush.port, webpush.streams ?? fcmStreams)
      simulator.webpush = address
      simulator.createSubscription = (wanted) => gateway.subscribe(address.url, wanted)
    }
    if (options.control) {
      const control = await startControl(host, options.control.port ?? 0, {
        ledger,
        faults,
        overview: () => overview(simulator),
        subscribe: (wanted) => simulator.createSubscription(wanted)
      })
      running.push(control)
      simulator.controlUrl = `http://${host.includes(':') ? `[${host}]` : host}:${control.port}`
    }
    return simulator
  } catch (error) {
    await close()
    throw error
  }
}

/** Nothing secret: the keys are in files. */
export const overview = ({ apns, fcm, webpush, controlUrl, ca, ...more }: Simulator) => ({
  apns_url: apns?.url ?? null,
  apns_sandbox_url: more.apnsSandbox?.url ?? null,
  apns_channels_url: more.apnsChannels?.url ?? null,
  apns_sandbox_channels_url: more.apnsSandboxChannels?.url ?? null,
  fcm_url: fcm?.url ?? null,
  fcm_token_url: fcm?.tokenUrl ?? null,
  webpush_url: webpush?.url ?? null,
  control_url: controlUrl ?? null,
  ca
})
