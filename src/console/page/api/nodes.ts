import { useQuery } from '@tanstack/react-query'
import type { InstallationPause, Node } from '../../../wire.ts'
import { manage } from './client.ts'

export const useNodes = () =>
  useQuery({
    queryKey: ['nodes'],
    queryFn: () => manage<{ items: Node[]; paused: InstallationPause | null }>('GET', '/nodes'),
    // A command resumes the installation, and no stream of changes tells of it.
    refetchInterval: ({ state }) => (state.data?.paused ? 5_000 : false),
    meta: { kinds: ['nodes'] },
    retry: false
  })
