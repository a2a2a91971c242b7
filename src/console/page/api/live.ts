import { useEffect, useRef, useState } from 'react'

/** Listens to a stream of the service while the component is mounted. The browser reconnects by itself. */
export function useLive(path: string | null, receive: (data: unknown) => void): 'connecting' | 'live' | 'lost' {
  const [state, setState] = useState<'connecting' | 'live' | 'lost'>('connecting')
  const latest = useRef(receive)
  latest.current = receive
  useEffect(() => {
    if (path === null) return
    let source: EventSource
    let retry: ReturnType<typeof setTimeout> | undefined
    const open = () => {
      source = new EventSource(`/manage/v1${path}`)
      source.onopen = () => setState('live')
      const pass = ({ data }: MessageEvent<string>) => latest.current(JSON.parse(data))
      // Pushes of the inbox have no name, changes of its phones have one; those of a trigger are its progress and its end.
      for (const name of ['message', 'phones', 'progress', 'ended']) source.addEventListener(name, pass)
      source.onerror = () => {
        setState('lost')
        // The browser does not reconnect after an error response, only after a lost connection.
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
