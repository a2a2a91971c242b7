import { useNavigate, useSearch } from '@tanstack/react-router'

/** A value kept in the query string, so that reloads and links keep it. Empty when it is not set. */
export function useUrlState(name: string): [value: string, set: (value: string | null) => void] {
  const search = useSearch({ strict: false }) as Record<string, unknown>
  const navigate = useNavigate()
  const set = (value: string | null) =>
    void navigate({
      to: '.',
      search: ((before: object) => ({ ...before, [name]: value || undefined })) as never,
      replace: true
    })
  const value = search[name]
  return [value === undefined || value === null ? '' : String(value), set]
}
