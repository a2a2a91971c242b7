import { useQuery } from '@tanstack/react-query'
import type { Properties } from '../../../wire.ts'
import { project } from './client.ts'
import { useProjectId } from './session.ts'

export type KnownProperty = Properties['items'][number]

/** The properties that users have, with types and frequent values, for suggestions. */
export function useKnownProperties(): KnownProperty[] {
  const projectId = useProjectId()
  const { data } = useQuery({
    queryKey: ['properties', projectId],
    queryFn: () => project<Properties>(projectId, 'GET', '/properties'),
    staleTime: 60_000
  })
  return data?.items ?? []
}
