import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { Page, Phone } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { toast } from '../../parts/toasts.tsx'

export interface PhoneFilters {
  search: string
  platform: string
  state: string
}

/** Screens that are drawn at once; further ones are asked for. */
const pageSize = 12
const mostRecent = 12
/** How long a phone is marked after a push. */
export const justMs = 60_000

/**
 * The phones that match the filters, newest first, a page at a time. Phones that something was just sent to and that the
 * pages do not hold come first, so that no push goes unseen.
 */
export function usePhones(filters: PhoneFilters) {
  const projectId = useProjectId()
  const path = '/simulator/devices'
  const all = useInfiniteQuery({
    queryKey: ['phones', projectId, filters],
    queryFn: ({ pageParam, signal }) =>
      project<Page<Phone>>(projectId, 'GET', path, {
        query: { ...filters, limit: pageSize, cursor: pageParam },
        signal
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: (before) => before,
    // Outcomes of messages too: a gateway's response may end a token after the push was shown.
    meta: { kinds: ['devices', 'messages'] }
  })
  const recent = useQuery({
    queryKey: ['phones', projectId, filters, 'recent'],
    queryFn: () =>
      project<Page<Phone>>(projectId, 'GET', path, { query: { ...filters, recent: 'true', limit: mostRecent } }),
    placeholderData: (before) => before
  })
  const listed = all.data?.pages.flatMap(({ items }) => items) ?? []
  const ids = new Set(listed.map(({ id }) => id))
  const first = (recent.data?.items ?? []).filter(({ id }) => !ids.has(id))
  return { ...all, phones: [...first, ...listed] }
}

/** Renders again now and then, so that marks of a moment disappear. */
export function useNow(everyMs = 10_000): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

/** What a person does with a phone. Each action says that it was done. */
export function usePhoneActions(id: string) {
  const projectId = useProjectId()
  const queries = useQueryClient()
  const path = `/simulator/devices/${encodeURIComponent(id)}`
  const renew = () => queries.invalidateQueries({ queryKey: ['phones', projectId] })
  const change = useMutation({
    mutationFn: ({ body }: { body: object; said: string }) => project<Phone>(projectId, 'PATCH', path, { body }),
    onSuccess: (_, { said }) => toast(said),
    onError: (error) => toast(error.message),
    onSettled: renew
  })
  const remove = useMutation({
    mutationFn: () => project(projectId, 'DELETE', path),
    onSuccess: () => toast('Device removed.'),
    onError: (error) => toast(error.message),
    onSettled: renew
  })
  const act = useMutation({
    mutationFn: ({ item, verb, body }: { item: string; verb: 'tap' | 'dismiss'; body: object }) =>
      project<{ landing_url?: string | null }>(projectId, 'POST', `/simulator/inbox/${item}:${verb}`, { body }),
    onError: (error) => toast(error.message),
    onSettled: renew
  })
  return { change, remove, act }
}
