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
import type { Simulator } from '../server/start.ts'
import { type Subscription, simulatedHost } from '../webpush/crypto.ts'
import { createWebPush, type SubscriptionWish } from '../webpush/webpush.ts'
import { createInbox, type DevicesOf } from './inbox.ts'
import * as store from './store.ts'

/** Where a project's pushes go in simulator mode, and what they are sent with. */
export interface SimulatedGateways {
  /** Another one where the addresses and the authority are others: connections made before are of no use. */
  version: number
  /** PEM of the authority to trust. */
  ca: string
  apns: { origin: string; sandboxOrigin: string; keyId: string; teamId: string; privateKey: string; topic: string }
  fcm: {
    origin: string
    tokenUri: string
    firebaseProject: string
    clientEmail: string
    privateKeyId: string
    privateKey: string
  }
  /** Simulated subscriptions name https://simulator.invalid; `origin` is where that is in this process. */
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
  /** The faults as they were last applied. */
  faults: string
}

export interface SimulatorsOptions {
  pool: Pool
  listener: Listener
  log: Log
  /** Seals the credentials. */
  key: Buffer
  devicesOf: DevicesOf
  /** Simulators of this process at a time; past it the one that was idle longest goes. */
  most?: number
}

export type Simulators = ReturnType<typeof createSimulators>

const channel = 'tidings_simulator_faults'
const topic = 'com.example.app'
const origin = `https://${simulatedHost}`
const lookMs = 1_000
const idleMs = 10 * 60_000
/** A simulator that had nothing to do for a minute need not know its faults within a second: a notification tells it. */
const quietMs = 60_000
const context = (projectId: string) => `simulator ${projectId}`

sealedColumn({
  table: 'simulators',
  column: 'credentials',
  by: ['project_id'],
  context: ({ project_id }) => context(project_id!)
})

/** The simulated gateways of all projects in that mode. One is started here when its project first sends. */
export function createSimulators({ pool, listener, log, key, devicesOf, most = 100 }: SimulatorsOptions) {
  const entries = new Map<ProjectId, Entry>()
  const inbox = createInbox({ pool, listener, log, devicesOf })
  const streams = new AbortController()
  let closed = false

  listener.on(channel, (projectId) => {
    for (const each of projectId === undefined ? entries.keys() : [projectId as ProjectId]) void refresh(each)
  })
  const timer = setInterval(look, lookMs)
  timer.unref()

  function look(): void {
    const nowMs = Date.now()
    for (const [projectId, { usedAtMs }] of entries) {
      if (nowMs - usedAtMs > idleMs) void drop(projectId)
      else if (nowMs - usedAtMs < quietMs) void refresh(projectId)
    }
  }

  /** Kept in the database from the first use on: all nodes have the same, also after a restart. */
  async function rowOf(projectId: ProjectId): Promise<{ credentials: Credentials; faults: object }> {
    let row = await store.findSimulator(pool, projectId)
    if (!row) {
      const fresh = seal(key, context(projectId), JSON.stringify(await createCredentials()))
      await store.insertSimulator(pool, projectId, fresh, new Date())
      row = await store.findSimulator(pool, projectId)
    }
    if (!row) throw new Refusal('not_found', 'There is no such project.')
    return { credentials: JSON.parse(open(key, context(projectId), row.credentials)), faults: row.faults }
  }

  async function start(projectId: ProjectId, entry: Entry): Promise<Running> {
    const { credentials, faults } = await rowOf(projectId)
    // Loaded when a project needs it: the start of the service does not wait for certificates.
    const { startSimulator } = await import('../server/start.ts')
    const simulator = await startSimulator({ credentials, ledgerSize: 1 })
    applyStored(simulator.faults, faults)
    entry.faults = JSON.stringify(faults)
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

  function entryOf(projectId: ProjectId): Entry {
    const known = entries.get(projectId)
    if (known) {
      known.usedAtMs = Date.now()
      return known
    }
    if (entries.size >= most) {
      const [idlest] = [...entries].sort(([, one], [, two]) => one.usedAtMs - two.usedAtMs)[0]!
      void drop(idlest)
    }
    const entry = { usedAtMs: Date.now(), faults: '' } as Entry
    entry.running = start(projectId, entry)
    entry.running.catch(() => {
      if (entries.get(projectId) === entry) entries.delete(projectId)
    })
    entries.set(projectId, entry)
    return entry
  }

  async function drop(projectId: ProjectId): Promise<void> {
    const entry = entries.get(projectId)
    entries.delete(projectId)
    const running = await entry?.running.catch(() => undefined)
    // Nobody waits for it, so nobody hears of it: a promise that is rejected unheard would end the process.
    await running
      ?.stop()
      .catch((error: Error) => log.warn({ error: error.message }, 'a simulator did not stop as it should'))
  }

  async function refresh(projectId: ProjectId): Promise<void> {
    const entry = entries.get(projectId)
    const running = await entry?.running.catch(() => undefined)
    if (!entry || !running) return
    try {
      const faults = (await store.findSimulator(pool, projectId))?.faults
      if (!faults || JSON.stringify(faults) === entry.faults) return
      entry.faults = JSON.stringify(faults)
      applyStored(running.simulator.faults, faults)
    } catch (error) {
      log.debug({ error: (error as Error).message }, 'the faults of a simulator were not read')
    }
  }

  /** Reads, changes and stores them as one, and tells all nodes. */
  async function editFaults(projectId: ProjectId, edit: (faults: Faults) => void) {
    await rowOf(projectId)
    const shown = await pool.transaction(async (tx) => {
      const stored = await store.lockFaults(tx, projectId)
      const faults = createFaults()
      applyStored(faults, stored?.faults)
      edit(faults)
      await store.storeFaults(tx, projectId, showFaults(faults))
      await tx.run(notify, [channel, projectId])
      return showFaults(faults)
    })
    await refresh(projectId)
    return shown
  }

  return {
    inbox,
    /** Aborted when streams must end. */
    ending: streams.signal,
    /** Cheap once it runs: ask before every push, since the addresses change when a simulator was idle and starts again. */
    async of(projectId: ProjectId): Promise<SimulatedGateways> {
      if (closed) throw new Unavailable('The simulators have stopped.')
      return (await entryOf(projectId).running).gateways
    },
    /** A browser that says yes. No simulator needs to run for it. */
    async subscribe(projectId: ProjectId, wanted: Omit<SubscriptionWish, 'applicationServerKey'> = {}) {
      const { credentials } = await rowOf(projectId)
      const wish = { ...wanted, applicationServerKey: credentials.vapid.publicKey }
      return createWebPush(credentials.seed).subscribe(origin, wish) satisfies Subscription
    },
    vapidPublicKey: async (projectId: ProjectId): Promise<string> =>
      (await rowOf(projectId)).credentials.vapid.publicKey,
    async faults(projectId: ProjectId) {
      const faults = createFaults()
      applyStored(faults, (await store.findSimulator(pool, projectId))?.faults)
      return showFaults(faults)
    },
    /** What is named changes, the rest stays. */
    changeFaults: (projectId: ProjectId, wanted: unknown) =>
      editFaults(projectId, (faults) => changeFaults(faults, wanted)),
    resetFaults: (projectId: ProjectId) => editFaults(projectId, (faults) => faults.set('all', noFaults)),
    running: () => entries.size,
    /** Streams end at once: a stop does not wait for them. */
    endStreams: async () => streams.abort(),
    async close(): Promise<void> {
      closed = true
      clearInterval(timer)
      streams.abort()
      await Promise.all([...entries.keys()].map(drop))
    }
  }
}

/** A newer node may have stored faults that this one does not know: better none than no simulator. */
function applyStored(faults: Faults, stored: object = {}): void {
  try {
    changeFaults(faults, stored)
  } catch {
    faults.set('all', noFaults)
  }
}

function gatewaysOf({ ca, apns, apnsSandbox, fcm, webpush, credentials }: Simulator): SimulatedGateways {
  return {
    version: Date.now(),
    ca,
    apns: {
      origin: apns!.url,
      sandboxOrigin: apnsSandbox!.url,
      keyId: credentials.apns.keyId,
      teamId: credentials.apns.teamId,
      privateKey: credentials.apns.privateKey,
      topic
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
