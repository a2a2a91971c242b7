import { useEffect, useState } from 'react'
import { useProjectId } from '../api/session.ts'

function found<Value>(key: string, first: Value): Value {
  try {
    return (JSON.parse(sessionStorage.getItem(key) ?? 'null') as Value | null) ?? first
  } catch {
    return first
  }
}

/** What is typed, kept for this project until the tab of the browser is closed: a reload loses nothing. */
export function useSessionState<Value>(name: string, first: Value): [Value, (value: Value) => void] {
  const key = `tidings-kept ${useProjectId()} ${name}`
  const [value, set] = useState(() => found(key, first))
  useEffect(() => sessionStorage.setItem(key, JSON.stringify(value)), [key, value])
  return [value, set]
}
