import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { type Page, project } from '../../api/client.ts'
import { useLive } from '../../api/live.ts'
import { useProjectId } from '../../api/session.ts'

/** A push as a simulated gateway saw it. */
export interface InboxItem {
  id: string
  received_at: string
  gateway: 'apns' | 'fcm' | 'webpush'
  device_id: string | null
  message_id: string | null
  title: string | null
  body: string | null
  image_url: string | null
  landing_url: string | null
  request: { path: string; headers: Record<string, string>; payload: unknown }
  answer: { status: number; reason: string | null; gateway_message_id: string | null }
}

const kept = 300

function merged(known: InboxItem[], more: InboxItem[]): InboxItem[] {
  const byId = new Map([...known, ...more].map((item) => [item.id, item]))
  return [...byId.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, kept)
}

/** The newest pushes, first what is there and then what comes. Newest first. */
export function useInbox() {
  const projectId = useProjectId()
  const path = `/simulator/inbox`
  const [items, setItems] = useState<InboxItem[]>([])
  const before = useQuery({
    queryKey: ['inbox', projectId],
    queryFn: () => project<Page<InboxItem>>(projectId, 'GET', path, { query: { limit: 100 } }),
    staleTime: 0
  })
  useEffect(() => {
    const more = before.data?.items
    if (more) setItems((known) => merged(known, more))
  }, [before.data])
  const state = useLive(`/projects/${encodeURIComponent(projectId)}${path}`, (item) =>
    setItems((known) => merged(known, [item as InboxItem]))
  )
  return { items, state, error: before.error, clear: () => setItems([]) }
}

export const arrived = ({ answer }: InboxItem) => answer.status >= 200 && answer.status < 300
