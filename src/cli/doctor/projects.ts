import { pausedSentence } from '../../platform/backup/paused.ts'
import type { InstallationPause, Key, Project as ManagedProject } from '../../wire.ts'
import { counted } from '../output.ts'
import { type Finding, ok, warn } from './check.ts'

const limitMs = 3_000
const soonMs = 7 * 86_400_000
/** The keys of each project take a request, so only this many projects are checked. */
const mostProjects = 100

/** Older services do not return `paused_at`. */
type Project = Pick<ManagedProject, 'id'> & Partial<Pick<ManagedProject, 'paused_at'>>

/** Finds keys that expire soon and paused projects, if the service runs and accepts the token. */
export async function checkProjects(baseUrl: string | undefined, token: string | undefined): Promise<Finding[]> {
  if (baseUrl === undefined || token === undefined) return []
  const signal = AbortSignal.timeout(limitMs)
  const get = async <Answer>(path: string): Promise<Answer> => {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${baseUrl}/manage/v1${path}`, { headers, signal, redirect: 'manual' })
    if (!response.ok) throw new Error(`status ${response.status}`)
    return (await response.json()) as Answer
  }
  const items = async <Item>(path: string) => (await get<{ items: Item[] }>(path)).items
  try {
    const { paused: restored } = await get<{ paused?: InstallationPause | null }>('/nodes')
    const projects = await items<Project>(`/projects?limit=${mostProjects}`)
    const keys = await Promise.all(
      projects.map(async ({ id: project }) =>
        endingOf(await items<Key>(`/projects/${project}/keys?limit=200`)).map((key) => ({ ...key, project }))
      )
    )
    const ending = keys.flat()
    // Projects that the restore paused continue with the installation.
    const paused = projects.filter(({ paused_at }) => typeof paused_at === 'string' && paused_at !== restored?.since)
    return [
      ...(restored ? [warn('Installation', pausedSentence(restored))] : []),
      ...ending.map(({ id, project, name, prefix, expires_at }) =>
        warn(
          'Keys',
          `${name} (${prefix}…) of ${project} expires at ${expires_at}. Replace it: tidings key rotate ${id} -p ${project}`
        )
      ),
      ...paused.map(({ id, paused_at }) =>
        warn(
          'Projects',
          `${id} is paused since ${paused_at} and sends nothing. Resume it: tidings project resume ${id}`
        )
      ),
      ...(ending.length === 0
        ? [ok('Keys', `none expires within 7 days (${counted(projects.length, 'project')})`)]
        : [])
    ]
  } catch {
    // The service does not run, or refuses the token: other checks report that.
    return []
  }
}

/** Keys that expire soon, without those that a rotation has replaced by a key that lasts. */
function endingOf(keys: Key[]): Key[] {
  const lasts = ({ expires_at: at }: Key) => at === null || Date.parse(at) - Date.now() >= soonMs
  const isReplaced = (old: Key) =>
    keys.some((key) => key.kind === old.kind && key.name === old.name && key.created_at > old.created_at && lasts(key))
  // An expired key needs no warning any more.
  const isOver = ({ expires_at: at }: Key) => at !== null && Date.parse(at) <= Date.now()
  return keys.filter((key) => !lasts(key) && !isOver(key) && !isReplaced(key))
}
