import { useNavigate, useSearch } from '@tanstack/react-router'

/** A list or an object that the address holds as JSON, so that a link carries it. Undefined if it is not there. */
export function useUrlJson<Value extends object>(
  name: string
): [Value | undefined, (value: Value | undefined) => void] {
  const search = useSearch({ strict: false }) as Record<string, unknown>
  const navigate = useNavigate()
  const set = (value: Value | undefined) =>
    void navigate({ to: '.', search: ((before: object) => ({ ...before, [name]: value })) as never, replace: true })
  const found = search[name]
  return [typeof found === 'object' && found !== null ? (found as Value) : undefined, set]
}
