import { createApns, createChannelHost, manyStreams } from '../apns/apns.ts'
import { type Channels, createChannels } from '../apns/channels.ts'
import type { ApnsEnvironment, ProviderKey } from '../apns/provider.ts'
import { type Credentials, createCredentials, keepCredentials, type ServiceAccount } from '../credentials.ts'
import { createFaults, type Faults } from '../faults/faults.ts'
import { createFcm, fcmStreams } from '../fcm/fcm.ts'
import type { Subscription } from '../webpush/crypto.ts'
import { createWebPush, type SubscriptionRequest } from '../webpush/webpush.ts'
import { makeCertificates } from './certificates.ts'
import { startControl } from './control.ts'
import type { Gateway } from './gateway.ts'
import { type Around, createHandler } from './handler.ts'
import { createLedger, type GatewayName, type Ledger } from './ledger.ts'
import { type Listener, type ListenOptions, listen } from './listen.ts'

export interface SimulatorOptions {
  /** Default: 127.0.0.1. */
  host?: string
  /** Keeps the authority and the credentials for the next start; without it they live in memory. */
  folder?: string
  /** Used instead of new ones or those of the folder. */
  credentials?: Credentials
  /** Without a port, a free one is chosen. `false` leaves a gateway out. */
  apns?: false | ApnsOptions
  fcm?: false | FcmOptions
  webpush?: false | WebPushOptions
  /** Without it, no control server starts. */
  control?: { port?: number }
  ledgerSize?: number
  /** Finds the device of a token, for the ledger. */
  deviceOf?: (gateway: GatewayName, token: string) => string | undefined
  /** The seed of random faults. */
  seed?: number
}

interface ApnsOptions {
  port?: number
  sandboxPort?: number
  keys?: ProviderKey[]
  topics?: string[]
  streams?: 'real' | number
  /**
   * The hosts that manage broadcast channels of Live Activities; without it, they do not start. Channels are kept in
   * memory by default.
   */
  channels?: { port?: number; sandboxPort?: number; keptBy?: (environment: ApnsEnvironment) => Channels }
}

interface FcmOptions {
  port?: number
  accounts?: ServiceAccount[]
  accessTokenSeconds?: number
  streams?: number
}

interface WebPushOptions {
  port?: number
  streams?: number
}

export interface Address {
  port: number
  /** The address with TLS. */
  url: string
  /** The address of the same port without TLS. */
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
  /** Credentials that the gateways accept. */
  credentials: Credentials
  /** A browser that grants permission. Throws if Web Push was left out. */
  createSubscription(wanted?: SubscriptionRequest): Subscription
  close(): Promise<void>
}

/**
 * Starts the gateways. They speak the real protocols and make the checks of the real ones; docs/guides/simulator.md
 * describes them.
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { host = '127.0.0.1', folder, apns = {}, fcm = {}, webpush = {} } = options
  const credentials = options.credentials ?? (folder ? await keepCredentials(folder) : await createCredentials())
  const { ca, ...certificates } = await makeCertificates({ host, folder })
  const ledger = createLedger(options.ledgerSize)
  const faults = createFaults(options.seed)
  const hosts = new Hosts(host, certificates, { ledger, faults, deviceOf: options.deviceOf ?? (() => undefined) })
  const simulator: Simulator = {
    ca,
    ledger,
    faults,
    credentials,
    close: () => hosts.close(),
    createSubscription() {
      throw new Error('Web Push was left out of this simulator.')
    }
  }
  try {
    if (apns) await startApns(hosts, simulator, apns)
    if (fcm) await startFcm(hosts, simulator, fcm)
    if (webpush) await startWebPush(hosts, simulator, webpush)
    if (options.control) simulator.controlUrl = await hosts.openControl(options.control.port, simulator)
    return simulator
  } catch (error) {
    await hosts.close()
    throw error
  }
}

/** The servers of one simulator. */
class Hosts {
  readonly #host: string
  readonly #certificates: Pick<ListenOptions, 'cert' | 'expiredCert' | 'key'>
  readonly #around: Around
  readonly #running: { close(): Promise<void> }[] = []

  constructor(host: string, certificates: Pick<ListenOptions, 'cert' | 'expiredCert' | 'key'>, around: Around) {
    this.#host = host
    this.#certificates = certificates
    this.#around = around
  }

  async open(gateway: Gateway, port: number | undefined, maxStreams: number): Promise<Address> {
    const { faults } = this.#around
    const listener: Listener = await listen({
      host: this.#host,
      port: port ?? 0,
      ...this.#certificates,
      maxStreams,
      http1: gateway.name !== 'apns',
      admits: () => !faults.get(gateway.name).down,
      needsTap: () => faults.needsTap(gateway.name),
      onRequest: createHandler(gateway, this.#around)
    })
    this.#running.push(listener)
    faults.onChange(() => {
      const { down, maxStreams: most, tlsExpired } = faults.get(gateway.name)
      if (down) listener.cut()
      listener.setMostStreams(most)
      listener.setExpired(tlsExpired)
    })
    const authority = this.#authority(listener.port)
    return { port: listener.port, url: `https://${authority}`, clearUrl: `http://${authority}` }
  }

  async openControl(port: number | undefined, simulator: Simulator): Promise<string> {
    const control = await startControl(this.#host, port ?? 0, {
      ledger: simulator.ledger,
      faults: simulator.faults,
      overview: () => overview(simulator),
      subscribe: (wanted) => simulator.createSubscription(wanted)
    })
    this.#running.push(control)
    return `http://${this.#authority(control.port)}`
  }

  async close(): Promise<void> {
    await Promise.all(this.#running.map((each) => each.close()))
  }

  #authority(port: number): string {
    return `${this.#host.includes(':') ? `[${this.#host}]` : this.#host}:${port}`
  }
}

async function startApns(hosts: Hosts, simulator: Simulator, options: ApnsOptions): Promise<void> {
  const { keys = [], topics, streams = 'real', channels } = options
  const rulesOf = (environment: ApnsEnvironment) => ({
    environment,
    channels: channels?.keptBy?.(environment) ?? createChannels(),
    keys: [simulator.credentials.apns, ...keys],
    topics,
    streams
  })
  const [production, sandbox] = [rulesOf('production'), rulesOf('sandbox')]
  const first = streams === 'real' ? 1 : Math.max(1, streams || manyStreams)
  simulator.apns = await hosts.open(createApns(production), options.port, first)
  simulator.apnsSandbox = await hosts.open(createApns(sandbox), options.sandboxPort, first)
  if (!channels) return
  simulator.apnsChannels = await hosts.open(createChannelHost(production), channels.port, manyStreams)
  simulator.apnsSandboxChannels = await hosts.open(createChannelHost(sandbox), channels.sandboxPort, manyStreams)
}

async function startFcm(hosts: Hosts, simulator: Simulator, options: FcmOptions): Promise<void> {
  const { credentials } = simulator
  const gateway = createFcm({
    accounts: [credentials.fcm, ...(options.accounts ?? [])],
    accessTokenSeconds: options.accessTokenSeconds ?? 3_599,
    secret: credentials.seed
  })
  const address = await hosts.open(gateway, options.port, options.streams ?? fcmStreams)
  simulator.fcm = { ...address, tokenUrl: `${address.url}/token` }
  credentials.fcm.token_uri = simulator.fcm.tokenUrl
}

async function startWebPush(hosts: Hosts, simulator: Simulator, options: WebPushOptions): Promise<void> {
  const gateway = createWebPush(simulator.credentials.seed)
  const address = await hosts.open(gateway, options.port, options.streams ?? fcmStreams)
  simulator.webpush = address
  simulator.createSubscription = (wanted) => gateway.subscribe(address.url, wanted)
}

/** The addresses, without secrets: the keys are in files. */
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
