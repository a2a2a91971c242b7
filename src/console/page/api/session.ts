import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { manage, type Page, session } from './client.ts'

export interface Identity {
  role: 'admin' | 'editor' | 'viewer'
  name: string
  project_id: string | null
}

export interface Project {
  id: string
  name: string
  mode: 'simulator' | 'live'
  plan: string
  limits: Record<'requests_per_second' | 'client_requests_per_second' | 'triggers_per_second', number>
  retention: Record<'events_days' | 'messages_days', number>
  created_at: string
  paused_at: string | null
}

/** null: nobody is signed in. */
export const useIdentity = () =>
  useQuery({
    queryKey: ['who'],
    queryFn: async () => {
      const known = await session<Identity | { role: null }>('GET')
      return known.role === null ? null : known
    },
    staleTime: 60_000
  })

const rank = { viewer: 0, editor: 1, admin: 2 }

/** The server decides; the page only does not offer what it would refuse. */
export function useHasRole(role: Identity['role']): boolean {
  const { data } = useIdentity()
  return !!data && rank[data.role] >= rank[role]
}

export const useProjects = () =>
  useQuery({
    queryKey: ['projects'],
    queryFn: () => manage<Page<Project>>('GET', '/projects', { query: { limit: 200 } }),
    // Another editor may pause the project meanwhile.
    refetchInterval: 10_000
  })

export function useProjectId(): string {
  return useParams({ strict: false }).projectId ?? ''
}

export function useProject(): Project | undefined {
  const id = useProjectId()
  return useProjects().data?.items.find((project) => project.id === id)
}
