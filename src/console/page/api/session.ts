import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { Page, Project } from '../../../wire.ts'
import { manage, session } from './client.ts'

export interface Identity {
  role: 'admin' | 'editor' | 'viewer'
  name: string
  project_id: string | null
}

/** The token behind the session; null when the browser is not signed in. */
export const useIdentity = () =>
  useQuery({
    queryKey: ['identity'],
    queryFn: async () => {
      const known = await session<Identity | { role: null }>('GET')
      return known.role === null ? null : known
    },
    staleTime: 60_000
  })

/** Who is signed in, for what the browser keeps: the member, or else the token. */
export const ownerOf = ({ name, ...identity }: Identity & { member?: { id: string } | null }): string =>
  identity.member?.id ?? `token ${name}`

const rank = { viewer: 0, editor: 1, admin: 2 }

/** Hides what the service would refuse. The service itself checks every request. */
export function useHasRole(role: Identity['role']): boolean {
  const { data } = useIdentity()
  return !!data && rank[data.role] >= rank[role]
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
