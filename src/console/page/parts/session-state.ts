import { useEffect, useState } from 'react'
import { useProjectId } from '../api/session.ts'

/** Unsaved input is kept per project in the session storage: a reload keeps it, closing the tab drops it. */
export const useStorageKey = (name: string) => `tidings-kept ${useProjectId()} ${name}`

export function readStored<Value>(key: string): Value | undefined {
  try {
    return (JSON.parse(sessionStorage.getItem(key) ?? 'null') as Value | null) ?? undefined
  } catch {
    return undefined
  }
}

/** Keeps a text in the browser, if it has room for it and its settings allow it. Returns whether they do. */
export function keep(storage: Storage, key: string, text: string): boolean {
  try {
    storage.setItem(key, text)
    return true
  } catch {
    return false
  }
}

export const store = (key: string, value: unknown): void => void keep(sessionStorage, key, JSON.stringify(value))

/** State that survives a reload. */
export function useSessionState<Value>(name: string, first: Value): [Value, (value: Value) => void] {
  const key = useStorageKey(name)
  const [value, set] = useState(() => readStored<Value>(key) ?? first)
  useEffect(() => store(key, value), [key, value])
  return [value, set]
}

const ownerKey = 'tidings-owner'

/** Drops what another person typed in this tab: a session may end in another tab, or by its time. */
export function claimStorage(owner: string): void {
  const before = sessionStorage.getItem(ownerKey)
  if (before !== null && before !== owner) sessionStorage.clear()
  keep(sessionStorage, ownerKey, owner)
}
