import { useQuery } from '@tanstack/react-query'
import type { Page, Topic } from '../../../wire.ts'
import { project } from './client.ts'
import { useProjectId } from './session.ts'

/** The topics of the project. A project has few of them, so they are loaded as a whole. */
export function useTopics() {
  const projectId = useProjectId()
  return useQuery({
    queryKey: ['topics', projectId],
    queryFn: () => project<Page<Topic>>(projectId, 'GET', '/topics', { query: { limit: 200 } })
  })
}
