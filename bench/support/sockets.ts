import { connect, type Socket } from 'node:net'

/** One connection that sends one request at a time. It is much lighter than an HTTP client, so that the service is the bottleneck. */
export interface Lane {
  busy: boolean
  /** The status of the response, and how long it took. */
  ask(bytes: string, ended: (status: number, ms: number) => void): void
  close(): void
}

export function openLane(port: number): Lane {
  let ended: ((status: number, ms: number) => void) | undefined
  let began = 0
  let text = ''
  const lane: Lane = {
    busy: false,
    ask(bytes, then) {
      lane.busy = true
      ended = then
      began = performance.now()
      if (socket.destroyed) socket = open()
      socket.write(bytes)
    },
    close: () => void socket.destroy()
  }
  function open(): Socket {
    const made = connect(port, '127.0.0.1').setNoDelay().setEncoding('latin1')
    made.on('data', (chunk: string) => {
      text += chunk
      const head = text.indexOf('\r\n\r\n')
      const length = head < 0 ? undefined : /content-length: (\d+)/i.exec(text)?.[1]
      if (length === undefined || text.length < head + 4 + Number(length)) return
      over(Number(text.slice(9, 12)))
    })
    made.on('error', () => {})
    made.on('close', () => lane.busy && over(0))
    return made
  }
  function over(status: number): void {
    text = ''
    lane.busy = false
    ended?.(status, performance.now() - began)
  }
  let socket = open()
  return lane
}

export const percentile = (values: number[], share: number): number =>
  values.length === 0
    ? Number.NaN
    : values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!
