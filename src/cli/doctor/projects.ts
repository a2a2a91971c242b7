import { counted } from '../output.ts'
import { type Finding, ok, warn } from './check.ts'

const limitMs = 3_000
const soonMs = 7 * 86_400_000
/** Of as many projects the keys are looked at: a request each. */
const mostProjects = 100

interface Project {
  id: string
  /** Older services do not have it. */
  paused_at?: string | null
}

interface Key {
  name: string
  prefix: string
  expires_at: string | null
}

/** Keys that end soon, and projects that are paused: asked of the service, where it runs and the token works. */
export async function checkProjects(baseUrl: string | undefined, token: string | undefined): Promise<Finding[]> {
  if (baseUrl === undefined || token === undefined) return []
  const signal = AbortSignal.timeout(limitMs)
  const items = async <Item>(path: string): Promise<Item[]> => {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${baseUrl}/manage/v1${path}`, { headers, signal, redirect: 'manual' })
    if (!response.ok) throw new Error(`status ${response.status}`)
    return ((await response.json()) as { items: Item[] }).items
  }
  try {
    const projects = await items<Project>(`/projects?limit=${mostProjects}`)
    const keys = await Promise.all(
      projects.map(async ({ id }) =>
        (await items<Key>(`/projects/${id}/keys?limit=200`)).map((key) => ({ ...key, id }))
      )
    )
    const ending = keys.flat().filter(({ expires_at }) => isSoon(expires_at))
    const paused = projects.filter(({ paused_at }) => typeof paused_at === 'string')
    return [
      ...ending.map(({ id, name, prefix, expires_at }) =>
        warn('Keys', `${name} (${prefix}…) of ${id} expires at ${expires_at}. Replace it: tidings key rotate -p ${id}`)
      ),
      ...paused.map(({ id, paused_at }) =>
        warn('Projects', `${id} is paused since ${paused_at} and sends nothing. Go on: tidings project resume ${id}`)
      ),
      ...(ending.length === 0
        ? [ok('Keys', `none expires within 7 days (${counted(projects.length, 'project')})`)]
        : [])
    ]
  } catch {
    // The service is away, or the token is not for it: other checks say so.
    return []
  }
}

/** One that has expired already is no longer news. */
function isSoon(expiresAt: string | null): boolean {
  if (expiresAt === null) return false
  const leftMs = Date.parse(expiresAt) - Date.now()
  return leftMs > 0 && leftMs < soonMs
}
