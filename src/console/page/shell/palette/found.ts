import { useDebouncedValue } from '@mantine/hooks'
import { useQueries, useQuery } from '@tanstack/react-query'
import type { Campaign, ListedSegment, Page, Topic, User } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { readValue, shownValue, type Value } from '../../pages/users/values.ts'
import { campaignLink, messageLink, pageLink, segmentLink, taskLink, triggerLink, userLink } from '../../parts/links.ts'
import type { Entry } from './entries.ts'

const minuteMs = 60_000
const mostListed = 200

/** Campaigns, segments and topics of the project; the newest ones of each. */
export function useKnown(projectId: string, opened: boolean): Entry[] {
  const list = <Item>(path: string) => ({
    queryKey: ['palette', projectId, path],
    queryFn: () => project<Page<Item>>(projectId, 'GET', path, { query: { limit: mostListed } }),
    staleTime: minuteMs,
    enabled: opened && projectId !== ''
  })
  const campaigns = useQuery(list<Campaign>('/campaigns'))
  const segments = useQuery(list<ListedSegment>('/segments'))
  const topics = useQuery(list<Topic>('/topics'))
  return [
    ...(campaigns.data?.items.map(({ campaign_id, name }) => ({
      group: 'Campaigns' as const,
      label: name,
      hint: campaign_id,
      to: campaignLink(projectId, campaign_id)
    })) ?? []),
    ...(segments.data?.items.map(({ segment_id: id, name }) => ({
      group: 'Segments' as const,
      label: name,
      hint: id,
      to: segmentLink(projectId, id)
    })) ?? []),
    ...(topics.data?.items.map(({ topic: id, name }) => ({
      group: 'Topics' as const,
      label: name,
      hint: id,
      to: pageLink(projectId, 'topics')
    })) ?? [])
  ]
}

/** Users whose id holds what was typed. The service searches, after a short rest of the keyboard. */
export function useUsers(projectId: string, typed: string): Entry[] {
  const [search] = useDebouncedValue(typed.trim(), 200)
  const { data } = useQuery({
    queryKey: ['palette users', projectId, search],
    queryFn: ({ signal }) => project<Page<User>>(projectId, 'GET', '/users', { query: { search, limit: 6 }, signal }),
    enabled: search.length > 1 && projectId !== '',
    placeholderData: (before) => (search.length > 1 ? before : undefined),
    staleTime: minuteMs
  })
  return (data?.items ?? []).map(({ project_user_id, properties }) => ({
    group: 'Users',
    label: project_user_id,
    ...(typeof properties.name === 'string' && { hint: properties.name }),
    to: userLink(projectId, project_user_id)
  }))
}

/** `plan=premium`, `age: 31`, `plan is premium`. */
const condition = /^\s*([^\s=:][^=:]*?)\s*(?:=|:|\sis\s)\s*(\S.*?)\s*$/

/** The users whose property has a value: the list of users searches for them. A number may be stored as a text too. */
export function byProperty(projectId: string, typed: string): Entry[] {
  const [, name, text] = condition.exec(typed) ?? []
  if (projectId === '' || name === undefined || text === undefined) return []
  return valuesOf(text).map((value) => ({
    group: 'Users',
    label: `Users where ${name} is ${shownValue(value)}`,
    to: pageLink(projectId, `users?where=${encodeURIComponent(JSON.stringify({ [name]: value }))}`)
  }))
}

/** The values that a typed text may stand for, the likeliest first. */
function valuesOf(text: string): Value[] {
  const bare = /^"(.*)"$/.exec(text)?.[1]
  if (bare !== undefined) return [bare]
  if (text === 'true' || text === 'false') return [text === 'true', text]
  const number = readValue('number', text)
  return number instanceof Error ? [text] : [number, text]
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const kindsById = [
  ['Message', '/api/v1/messages', messageLink],
  ['Trigger', '/api/v1/triggers', triggerLink],
  ['Agent task', '/agent-tasks', taskLink]
] as const

/** The message, trigger or task of a pasted id. */
export function useById(projectId: string, typed: string): Entry[] {
  const id = typed.trim().toLowerCase()
  return useQueries({
    queries: kindsById.map(([, path]) => ({
      queryKey: ['palette id', projectId, path, id],
      queryFn: () => project(projectId, 'GET', `${path}/${id}`),
      enabled: uuid.test(id) && projectId !== '',
      retry: false
    }))
  }).flatMap(({ data }, index) => {
    const [kind, , link] = kindsById[index]!
    return data ? [{ group: 'By ID' as const, label: `${kind} ${id}`, to: link(projectId, id) }] : []
  })
}

interface DocsIndex {
  pages: { path: string; kind: string; title: string; headings: { id: string; text: string }[] }[]
}

/** Pages of the docs and their headings. */
export function useDocs(opened: boolean): Entry[] {
  const { data } = useQuery({
    queryKey: ['docs'],
    queryFn: async () => (await (await fetch('/docs/index.json')).json()) as DocsIndex,
    staleTime: Number.POSITIVE_INFINITY,
    enabled: opened
  })
  return (data?.pages ?? [])
    .filter(({ kind }) => kind !== 'decisions')
    .flatMap(({ path, title, headings }) => [
      { group: 'Docs' as const, label: title, hint: path, href: `/docs/${path}` },
      ...headings.map(({ id, text }) => ({
        group: 'Docs' as const,
        label: text,
        hint: title,
        href: `/docs/${path}#${id}`
      }))
    ])
}
