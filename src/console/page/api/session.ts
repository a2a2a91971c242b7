import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { Page, Project, Identity as SignedIn } from '../../../wire.ts'
import { browser, manage } from './client.ts'

export type Role = 'admin' | 'editor' | 'viewer'
/** A signed-in member, or a token. */
export type Identity = SignedIn & { role: Role; name: string }

const identity = {
  queryKey: ['identity'],
  queryFn: () => browser<SignedIn>('GET', '/console/session'),
  staleTime: 60_000
}
const signedIn = (known: SignedIn) => (known.role === null ? null : (known as Identity))

/** The member or the token behind the session; null when the browser is not signed in. */
export const useIdentity = () => useQuery({ ...identity, select: signedIn })

/** How people can sign in here. */
export const useWays = () => useQuery({ ...identity, select: ({ ways }) => ways }).data

/** Who is signed in, for what the browser keeps: the member, or else the token. */
export const ownerOf = ({ name, member }: Identity): string => member?.id ?? `token ${name}`

const rank = { viewer: 0, editor: 1, admin: 2 }

/** The role in a project, or in the whole installation if none is named: the higher one counts. */
export function roleIn({ installation_role: all, roles }: Identity, projectId: string): Role | null {
  const own = roles[projectId] ?? null
  return own && (!all || rank[own] > rank[all]) ? own : all
}

/** The role in the project of the page. */
export function useRole(): Role | null {
  const { data } = useIdentity()
  const projectId = useProjectId()
  return data ? roleIn(data, projectId) : null
}

/** Hides what the service would refuse. The service itself checks every request. */
export function useHasRole(least: Role): boolean {
  const role = useRole()
  return role !== null && rank[role] >= rank[least]
}

export const useProjects = () =>
  useQuery({
    queryKey: ['projects'],
    queryFn: () => manage<Page<Project>>('GET', '/projects', { query: { limit: 200 } }),
    // Another editor may pause the project.
    meta: { kinds: ['project'] }
  })

export function useProjectId(): string {
  return useParams({ strict: false }).projectId ?? ''
}

export function useProject(): Project | undefined {
  const id = useProjectId()
  return useProjects().data?.items.find((project) => project.id === id)
}
