import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { User, UserList, UserProperties } from '../../../../wire.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useProjectId } from '../../api/session.ts'

const pageLength = 100

export interface Search {
  search: string
  where: UserProperties
}

/**
 * The users of a search. The service searches a part of the project for each page, so the next page is fetched until a
 * screen is full, the search is complete or it is stopped.
 */
export function useSearchPages({ search, where }: Search) {
  const queries = useQueryClient()
  const projectId = useProjectId()
  const filtered = Object.keys(where).length > 0
  const query = { search, ...(filtered && { where: JSON.stringify(where) }) }
  const { restart, ...pages } = usePagedList<User>('/users', query)
  const key = JSON.stringify(query)
  const [kept, keep] = useState({ key, stopped: false, wanted: pageLength })
  // Another search begins afresh.
  const { stopped, wanted } = kept.key === key ? kept : { stopped: false, wanted: pageLength }
  const parts = (pages.data?.pages ?? []) as UserList[]
  const found = parts.reduce((sum, part) => sum + part.items.length, 0)
  const isSearch = search !== '' || filtered
  const searching = isSearch && !stopped && !pages.isError && found < wanted && (pages.hasNextPage || pages.isPending)
  const { hasNextPage, isFetching, fetchNextPage } = pages
  useEffect(() => {
    if (searching && hasNextPage && !isFetching) void fetchNextPage()
  }, [searching, hasNextPage, isFetching, fetchNextPage])
  if (!isSearch) return { pages: { ...pages, ...(restart && { restart }) } }
  const more: typeof fetchNextPage = (options) => {
    keep({ key, stopped: false, wanted: found + pageLength })
    return fetchNextPage(options)
  }
  return {
    pages: { ...pages, fetchNextPage: more, isFetchingNextPage: searching && pages.isFetchingNextPage },
    progress: {
      found,
      searched: parts.reduce((sum, part) => sum + (part.searched ?? 0), 0),
      about: Math.max(0, ...parts.map((part) => part.about ?? 0)),
      complete: pages.isSuccess && !hasNextPage,
      searching,
      stop() {
        keep({ key, stopped: true, wanted })
        void queries.cancelQueries({ queryKey: ['list', projectId, '/users', query] })
      },
      resume: () => void more()
    }
  }
}

export type Progress = NonNullable<ReturnType<typeof useSearchPages>['progress']>
