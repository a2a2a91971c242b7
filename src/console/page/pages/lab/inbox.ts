import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { InboxItem, Page } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useLive } from '../../api/live.ts'
import { useProjectId } from '../../api/session.ts'

/** Older requests are dropped from the page. */
const maxItems = 300

function merged(known: InboxItem[], more: InboxItem[]): InboxItem[] {
  const byId = new Map([...known, ...more].map((item) => [item.id, item]))
  return [...byId.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, maxItems)
}

/** The latest requests to the simulated gateways, newest first: those so far, then each new one as it arrives. */
export function useInbox() {
  const projectId = useProjectId()
  const path = `/simulator/inbox`
  const [items, setItems] = useState<InboxItem[]>([])
  const earlier = useQuery({
    queryKey: ['inbox', projectId],
    queryFn: () => project<Page<InboxItem>>(projectId, 'GET', path, { query: { limit: 100 } }),
    staleTime: 0
  })
  useEffect(() => {
    const more = earlier.data?.items
    if (more) setItems((known) => merged(known, more))
  }, [earlier.data])
  const state = useLive(`/projects/${encodeURIComponent(projectId)}${path}`, (item) =>
    setItems((known) => merged(known, [item as InboxItem]))
  )
  return { items, state, error: earlier.error, clear: () => setItems([]) }
}

export const isAccepted = ({ answer }: InboxItem) => answer.status >= 200 && answer.status < 300
