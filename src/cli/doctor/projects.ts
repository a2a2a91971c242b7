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
  id: string
  kind: string
  name: string
  created_at: string
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
      projects.map(async ({ id: project }) =>
        endingOf(await items<Key>(`/projects/${project}/keys?limit=200`)).map((key) => ({ ...key, project }))
      )
    )
    const ending = keys.flat()
    const paused = projects.filter(({ paused_at }) => typeof paused_at === 'string')
    return [
      ...ending.map(({ id, project, name, prefix, expires_at }) =>
        warn(
          'Keys',
          `${name} (${prefix}…) of ${project} expires at ${expires_at}. Replace it: tidings key rotate ${id} -p ${project}`
        )
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

/** Keys that end soon, but for those that a rotation has replaced by a younger one that lasts. */
function endingOf(keys: Key[]): Key[] {
  const lasts = ({ expires_at: at }: Key) => at === null || Date.parse(at) - Date.now() >= soonMs
  const isReplaced = (old: Key) =>
    keys.some((key) => key.kind === old.kind && key.name === old.name && key.created_at > old.created_at && lasts(key))
  // One that has expired already is no longer news.
  const isOver = ({ expires_at: at }: Key) => at !== null && Date.parse(at) <= Date.now()
  return keys.filter((key) => !lasts(key) && !isOver(key) && !isReplaced(key))
}
