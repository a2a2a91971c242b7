import type { Pool } from '../../platform/db/db.ts'
import type { Listener } from '../../platform/db/listen.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { steadyMs } from '../../platform/time.ts'
import type { Mode } from '../../projects/projects.ts'
import type { GatewayName, PushEnvironment } from '../push.ts'
import type { ApnsCredential, Credential, CredentialSource } from './credential.ts'
import { openCredential } from './open.ts'
import { type Simulated, simulatedCredential } from './simulated.ts'
import { changedChannel, listCredentials } from './store.ts'

interface Cached {
  pending: Promise<Credential[]>
  expiresAtMs: number
}

/** The longest time until a change takes effect if its notification is lost. */
const believedMs = 5_000
/** The most cached projects, with about 4 KB of keys each. */
const maxCached = 5_000

export interface CredentialSourceOptions {
  pool: Pool
  listener: Listener
  key: Buffer
  /** Cached for a short time: called for every push. */
  projectOf: (projectId: ProjectId) => Promise<{ mode: Mode } | undefined>
  simulated: Simulated
  clock?: () => number
}

/** Finds the credential for a push. A project in simulator mode gets only simulated ones, and a live project never does. */
export function createCredentialSource({
  pool,
  listener,
  key,
  projectOf,
  simulated,
  clock = steadyMs
}: CredentialSourceOptions): CredentialSource & { forget(projectId?: string): void } {
  const cache = new Map<string, Cached>()

  function forget(projectId?: string): void {
    if (projectId) cache.delete(projectId)
    else cache.clear()
  }
  listener.on(changedChannel, forget)

  const read = async (projectId: ProjectId) =>
    (await listCredentials(pool, projectId)).map((row) => openCredential(key, projectId, row))

  function stored(projectId: ProjectId): Promise<Credential[]> {
    const nowMs = clock()
    const cached = cache.get(projectId)
    if (cached && cached.expiresAtMs > nowMs) return cached.pending
    const fresh = { pending: read(projectId), expiresAtMs: nowMs + believedMs }
    cache.delete(projectId)
    // The oldest entry is dropped: insertion order is the order of the look-ups.
    if (cache.size >= maxCached) cache.delete(cache.keys().next().value!)
    cache.set(projectId, fresh)
    fresh.pending.catch(() => {
      if (cache.get(projectId) === fresh) cache.delete(projectId) // A failed look-up is not cached.
    })
    return fresh.pending
  }

  return {
    forget,
    async find(projectId, gateway, environment, app) {
      const project = await projectOf(projectId)
      if (!project) return null
      if (project.mode === 'simulator') {
        const standIns = await simulated(projectId)
        return standIns && simulatedCredential(projectId, standIns, gateway, environment)
      }
      return choose(await stored(projectId), gateway, environment, app)
    }
  }
}

/**
 * For APNs, the credential of the environment and the app, or the only one of the environment: the key of a team is
 * valid for all its apps, and most projects have one key.
 */
function choose(
  credentials: readonly Credential[],
  gateway: GatewayName,
  environment: PushEnvironment,
  app: string | null
): Credential | null {
  if (gateway !== 'apns') return credentials.find((each) => each.gateway === gateway) ?? null
  const fitting = credentials.filter(
    (each): each is ApnsCredential => each.gateway === 'apns' && each.environment === environment
  )
  const exact = fitting.find((each) => each.topic === app)
  return exact ?? (fitting.length === 1 ? fitting[0]! : null)
}
