import type { Pool } from '../../platform/db/db.ts'
import type { Listener } from '../../platform/db/listen.ts'
import { notify } from '../../platform/db/store.ts'
import { Refusal, Unavailable } from '../../platform/errors.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import { sealedColumn } from '../../platform/secrets/sealed.ts'
import { open, seal } from '../../platform/secrets/secrets.ts'
import { type Credentials, createCredentials } from '../credentials.ts'
import { createFaults, type Faults, noFaults } from '../faults/faults.ts'
import { changeFaults, showFaults } from '../faults/settings.ts'
import type { Reports } from '../phones/arrivals.ts'
import { createPhones, hashOf } from '../phones/phones.ts'
import { deadTokens } from '../phones/store.ts'
import type { Simulator } from '../server/start.ts'
import { nameOf } from '../server/token-names.ts'
import { type Subscription, simulatedHost } from '../webpush/crypto.ts'
import { createWebPush, type SubscriptionRequest } from '../webpush/webpush.ts'
import { storedChannels } from './channels.ts'
import { createInbox, type DevicesOf, inboxChannel } from './inbox.ts'
import * as store from './store.ts'

interface ApnsHosts {
  origin: string
  /** Manages broadcast channels. */
  channelsOrigin: string
}

/** Addresses and credentials of the gateways of a project of mode simulator. */
export interface SimulatedGateways {
  /** Changes with the addresses and the authority: older connections are of no use then. */
  version: number
  /** PEM of the authority to trust. */
  ca: string
  apns: ApnsHosts & { sandbox: ApnsHosts; keyId: string; teamId: string; privateKey: string; topic: string }
  fcm: {
    origin: string
    tokenUri: string
    firebaseProject: string
    clientEmail: string
    privateKeyId: string
    privateKey: string
  }
  /** Simulated subscriptions name https://simulator.invalid; `origin` is its address in this process. */
  webpush: { origin: string; subject: string; publicKey: string; privateKey: string }
}

interface Running {
  simulator: Simulator
  gateways: SimulatedGateways
  stop(): Promise<void>
}

interface Entry {
  running: Promise<Running>
  usedAtMs: number
  /** The faults that were last applied, as JSON. */
  faults: string
  /** The change of phones after which dead tokens were last read. */
  phones: string
}

export interface SimulatorsOptions {
  pool: Pool
  listener: Listener
  log: Log
  /** Seals the credentials. */
  key: Buffer
  devicesOf: DevicesOf
  /** Receives what the apps on simulated phones report, as real apps do. */
  onReports?: (projectId: ProjectId, reports: Reports) => void
  /** How many simulators run in this process; a further one stops the one that was idle longest. */
  most?: number
}

export type Simulators = ReturnType<typeof createSimulators>

const channel = 'tidings_simulator_faults'
/** The bundle id of simulated apps that name none. */
export const simulatedTopic = 'com.example.app'
const origin = `https://${simulatedHost}`
const pollMs = 1_000
const idleMs = 10 * 60_000
/** After a minute without pushes, a simulator reads changed faults only when it is notified. */
const quietMs = 60_000
const context = (projectId: string) => `simulator ${projectId}`

sealedColumn({
  table: 'simulators',
  column: 'credentials',
  by: ['project_id'],
  context: ({ project_id }) => context(project_id!)
})

/** The simulated gateways of all projects of mode simulator. One starts in this process when its project first sends. */
export function createSimulators(options: SimulatorsOptions) {
  const { pool, listener, log, key, devicesOf, onReports: report = () => {}, most = 100 } = options
  const inbox = createInbox({ pool, listener, log, devicesOf, report })
  const rows = new Rows(pool, key)
  const fleet = new Fleet({ pool, log, rows, inbox, most })
  const phones = createPhones({
    pool,
    channel: inboxChannel,
    prepare: async (projectId) => {
      await rows.get(projectId)
      await inbox.flushed(projectId)
    },
    report,
    onDead: (projectId) => fleet.spread(projectId)
  })
  const streams = new AbortController()
  listener.on(channel, (projectId) => fleet.refreshAll(projectId as ProjectId | undefined))

  return {
    inbox,
    phones,
    /** Aborted when streams must end. */
    ending: streams.signal,
    /** Ask before every push: the addresses change when an idle simulator starts again. Cheap once it runs. */
    of: (projectId: ProjectId): Promise<SimulatedGateways> => fleet.gatewaysOf(projectId),
    /** A browser that grants permission. No simulator needs to run for it. */
    async subscribe(projectId: ProjectId, wanted: Omit<SubscriptionRequest, 'applicationServerKey'> = {}) {
      const { credentials } = await rows.get(projectId)
      const request = { ...wanted, applicationServerKey: credentials.vapid.publicKey }
      return createWebPush(credentials.seed).subscribe(origin, request) satisfies Subscription
    },
    vapidPublicKey: async (projectId: ProjectId): Promise<string> =>
      (await rows.get(projectId)).credentials.vapid.publicKey,
    async faults(projectId: ProjectId) {
      const faults = createFaults()
      applyStored(faults, (await store.findSimulator(pool, projectId))?.faults)
      return showFaults(faults)
    },
    /** Changes the faults that are named; the others stay. */
    changeFaults: (projectId: ProjectId, wanted: unknown) =>
      fleet.editFaults(projectId, (faults) => changeFaults(faults, wanted)),
    resetFaults: (projectId: ProjectId) => fleet.editFaults(projectId, (faults) => faults.set('all', noFaults)),
    running: () => fleet.size,
    /** Streams end at once: a stop does not wait for them. */
    endStreams: async () => streams.abort(),
    async close(): Promise<void> {
      streams.abort()
      await fleet.close()
    }
  }
}

/** Credentials and faults of simulators, stored at the first use so that all nodes and later starts share them. */
class Rows {
  readonly #pool: Pool
  readonly #key: Buffer

  constructor(pool: Pool, key: Buffer) {
    this.#pool = pool
    this.#key = key
  }

  async get(projectId: ProjectId): Promise<{ credentials: Credentials; faults: object; phones: string }> {
    let row = await store.findSimulator(this.#pool, projectId)
    if (!row) {
      const fresh = seal(this.#key, context(projectId), JSON.stringify(await createCredentials()))
      await store.insertSimulator(this.#pool, projectId, fresh, new Date())
      row = await store.findSimulator(this.#pool, projectId)
    }
    if (!row) throw new Refusal('not_found', `Project "${projectId}" does not exist.`)
    const credentials: Credentials = JSON.parse(open(this.#key, context(projectId), row.credentials))
    return { credentials, faults: row.faults, phones: row.phones_number }
  }
}

interface FleetOptions extends Pick<SimulatorsOptions, 'pool' | 'log'> {
  rows: Rows
  inbox: ReturnType<typeof createInbox>
  most: number
}

/** The simulators that run in this process. */
class Fleet {
  readonly #options: FleetOptions
  readonly #entries = new Map<ProjectId, Entry>()
  readonly #timer = setInterval(() => this.#poll(), pollMs)
  #closed = false

  constructor(options: FleetOptions) {
    this.#options = options
    this.#timer.unref()
  }

  get size(): number {
    return this.#entries.size
  }

  async gatewaysOf(projectId: ProjectId): Promise<SimulatedGateways> {
    if (this.#closed) throw new Unavailable('The simulators have stopped.')
    return (await this.#entryOf(projectId).running).gateways
  }

  /** Stops idle simulators, and reads the faults of active ones in case a notification was lost. */
  #poll(): void {
    const nowMs = Date.now()
    for (const [projectId, { usedAtMs }] of this.#entries) {
      if (nowMs - usedAtMs > idleMs) void this.#drop(projectId)
      else if (nowMs - usedAtMs < quietMs) void this.#refresh(projectId)
    }
  }

  #entryOf(projectId: ProjectId): Entry {
    const known = this.#entries.get(projectId)
    if (known) {
      known.usedAtMs = Date.now()
      return known
    }
    if (this.#entries.size >= this.#options.most) {
      const [idlest] = [...this.#entries].sort(([, one], [, two]) => one.usedAtMs - two.usedAtMs)[0]!
      void this.#drop(idlest)
    }
    const entry = { usedAtMs: Date.now(), faults: '', phones: '' } as Entry
    entry.running = this.#start(projectId, entry)
    entry.running.catch(() => {
      if (this.#entries.get(projectId) === entry) this.#entries.delete(projectId)
    })
    this.#entries.set(projectId, entry)
    return entry
  }

  async #start(projectId: ProjectId, entry: Entry): Promise<Running> {
    const { rows, inbox } = this.#options
    const { credentials, faults, phones } = await rows.get(projectId)
    // Loaded when a project needs it, so that the start of the service does not wait for certificates.
    const { startSimulator } = await import('../server/start.ts')
    const simulator = await startSimulator({
      credentials,
      ledgerSize: 1,
      apns: { channels: { keptBy: (environment) => storedChannels(this.#options.pool, projectId, environment) } }
    })
    applyStored(simulator.faults, faults)
    entry.faults = JSON.stringify(faults)
    await this.#refuseDead(projectId, entry, simulator, phones)
    const writer = inbox.writer(projectId)
    simulator.ledger.subscribe((item) => {
      entry.usedAtMs = Date.now()
      writer.add(item)
    })
    const stop = async () => {
      await simulator.close()
      await writer.close()
    }
    return { simulator, gateways: gatewaysOf(simulator), stop }
  }

  async #drop(projectId: ProjectId): Promise<void> {
    const entry = this.#entries.get(projectId)
    this.#entries.delete(projectId)
    const running = await entry?.running.catch(() => undefined)
    // Most callers do not await this, and an unhandled rejection would end the process.
    await running
      ?.stop()
      .catch((error: Error) => this.#options.log.warn({ error: error.message }, 'a simulator did not stop cleanly'))
  }

  /** Reads the faults of one simulator, or of all without an id. */
  refreshAll(projectId?: ProjectId): void {
    for (const each of projectId === undefined ? this.#entries.keys() : [projectId]) void this.#refresh(each)
  }

  async #refresh(projectId: ProjectId): Promise<void> {
    const entry = this.#entries.get(projectId)
    const running = await entry?.running.catch(() => undefined)
    if (!entry || !running) return
    try {
      const row = await store.findSimulator(this.#options.pool, projectId)
      if (row && row.phones_number !== entry.phones)
        await this.#refuseDead(projectId, entry, running.simulator, row.phones_number)
      const faults = row?.faults
      if (!faults || JSON.stringify(faults) === entry.faults) return
      entry.faults = JSON.stringify(faults)
      applyStored(running.simulator.faults, faults)
    } catch (error) {
      this.#options.log.debug({ error: (error as Error).message }, 'the faults of a simulator were not read')
    }
  }

  /** Lets the gateways refuse tokens of uninstalled apps. */
  async #refuseDead(projectId: ProjectId, entry: Entry, { faults }: Simulator, phones: string): Promise<void> {
    const dead = new Map((await deadTokens(this.#options.pool, projectId)).map(({ hash, since }) => [hash, since]))
    entry.phones = phones
    faults.setGone((gateway, token) => (dead.size > 0 ? dead.get(hashOf(nameOf(gateway, token))) : undefined))
  }

  /** Applies stored changes on this node now, and on the others soon. */
  async spread(projectId: ProjectId): Promise<void> {
    await this.#options.pool.run(notify, [channel, projectId])
    await this.#refresh(projectId)
  }

  /** Reads, changes and stores faults in one transaction, and notifies all nodes. */
  async editFaults(projectId: ProjectId, edit: (faults: Faults) => void) {
    const { pool, rows } = this.#options
    await rows.get(projectId)
    const shown = await pool.transaction(async (tx) => {
      const stored = await store.lockFaults(tx, projectId)
      const faults = createFaults()
      applyStored(faults, stored?.faults)
      edit(faults)
      await store.storeFaults(tx, projectId, showFaults(faults))
      await tx.run(notify, [channel, projectId])
      return showFaults(faults)
    })
    await this.#refresh(projectId)
    return shown
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    await Promise.all([...this.#entries.keys()].map((projectId) => this.#drop(projectId)))
  }
}

/** A newer node may have stored faults that this one does not know. It then runs without faults. */
function applyStored(faults: Faults, stored: object = {}): void {
  try {
    changeFaults(faults, stored)
  } catch {
    faults.set('all', noFaults)
  }
}

function gatewaysOf({ ca, apns, apnsSandbox, fcm, webpush, credentials, ...hosts }: Simulator): SimulatedGateways {
  return {
    version: Date.now(),
    ca,
    apns: {
      origin: apns!.url,
      channelsOrigin: hosts.apnsChannels!.url,
      sandbox: { origin: apnsSandbox!.url, channelsOrigin: hosts.apnsSandboxChannels!.url },
      keyId: credentials.apns.keyId,
      teamId: credentials.apns.teamId,
      privateKey: credentials.apns.privateKey,
      topic: simulatedTopic
    },
    fcm: {
      origin: fcm!.url,
      tokenUri: fcm!.tokenUrl,
      firebaseProject: credentials.fcm.project_id,
      clientEmail: credentials.fcm.client_email,
      privateKeyId: credentials.fcm.private_key_id,
      privateKey: credentials.fcm.private_key
    },
    webpush: { origin: webpush!.url, subject: 'mailto:simulator@example.com', ...credentials.vapid }
  }
}
