import { useEffect, useRef, useState } from 'react'

/** Hears a stream of the service for as long as the part is shown. The browser connects again by itself. */
export function useLive(path: string | null, hear: (data: unknown) => void): 'connecting' | 'live' | 'lost' {
  const [state, setState] = useState<'connecting' | 'live' | 'lost'>('connecting')
  const latest = useRef(hear)
  latest.current = hear
  useEffect(() => {
    if (path === null) return
    let source: EventSource
    let retry: ReturnType<typeof setTimeout> | undefined
    const open = () => {
      source = new EventSource(`/manage/v1${path}`)
      source.onopen = () => setState('live')
      const heard = ({ data }: MessageEvent<string>) => latest.current(JSON.parse(data))
      // The inbox tells of items without a name, a trigger of its progress and its end.
      for (const name of ['message', 'progress', 'ended']) source.addEventListener(name, heard)
      source.onerror = () => {
        setState('lost')
        // A refusal closes it for good; a broken connection does not.
        if (source.readyState === EventSource.CLOSED) retry = setTimeout(open, 2_000)
      }
    }
    open()
    return () => {
      clearTimeout(retry)
      source.close()
    }
  }, [path])
  return state
}
