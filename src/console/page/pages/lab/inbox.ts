import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { InboxItem, Page } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useLive } from '../../api/live.ts'
import { useProjectId } from '../../api/session.ts'

/** Older requests are dropped from the page. */
const maxItems = 300
/** Phones are read again at most this often, however many pushes arrive. */
const phonesMs = 300

function merged(known: InboxItem[], more: InboxItem[]): InboxItem[] {
  const byId = new Map([...known, ...more].map((item) => [item.id, item]))
  return [...byId.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, maxItems)
}

/** Reads the phones again: at once for the first change, and once more for all others of a moment. */
function useRenewPhones(): () => void {
  const projectId = useProjectId()
  const queries = useQueryClient()
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const lastMs = useRef(0)
  useEffect(() => () => clearTimeout(timer.current), [])
  const renew = () => {
    timer.current = undefined
    lastMs.current = Date.now()
    void queries.invalidateQueries({ queryKey: ['phones', projectId] })
  }
  return () => {
    timer.current ??= setTimeout(renew, Math.max(0, lastMs.current + phonesMs - Date.now()))
  }
}

/**
 * The latest requests to the simulated gateways, newest first: those so far, then each new one as it arrives. Pushes and
 * changes of phones, by any viewer, renew the phones.
 */
export function useInbox() {
  const projectId = useProjectId()
  const path = '/simulator/inbox'
  const [items, setItems] = useState<InboxItem[]>([])
  const renewPhones = useRenewPhones()
  const earlier = useQuery({
    queryKey: ['inbox', projectId],
    queryFn: () => project<Page<InboxItem>>(projectId, 'GET', path, { query: { limit: 100 } }),
    staleTime: 0
  })
  useEffect(() => {
    const more = earlier.data?.items
    if (more) setItems((known) => merged(known, more))
  }, [earlier.data])
  const state = useLive(`/projects/${encodeURIComponent(projectId)}${path}?phones=true`, (event) => {
    if (!('phones' in (event as object))) setItems((known) => merged(known, [event as InboxItem]))
    renewPhones()
  })
  return { items, state, error: earlier.error }
}
