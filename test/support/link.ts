import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net'

/** The state of a link. All fields may change while connections are open. */
export interface LinkState {
  /** Each piece of data arrives so much later, in both directions. */
  delayMs?: number
  /** Each piece from the target arrives so much later: a server that takes this long for each response. */
  slowMs?: number
  /** Of a hundred pieces, so many are lost at first: TCP sends them again after 200 ms, then 400, and so on. */
  lossPercent?: number
  /** Nothing passes, not even the end of a connection, as if a cable were pulled. It passes when this ends. */
  silent?: boolean
  /** All connections end, and new ones are refused. */
  cut?: boolean
}

export interface Link {
  port: number
  /** Replaces the state. */
  set(state: LinkState): void
  /** Ends everything. */
  close(): void
}

const firstResendMs = 200

/** A TCP link to a target, whose faults a test chooses. `edit` may change bytes to the target, and keeps their length. */
export async function openLink(
  target: NetConnectOpts,
  { host = '127.0.0.1', edit }: { host?: string; edit?: (bytes: Buffer) => Buffer } = {}
): Promise<Link> {
  let state: LinkState = {}
  const open = new Set<Socket>()
  /** What happens when the link passes data again. */
  let held: (() => void)[] = []

  const whenOpen = (act: () => void) => void (state.silent ? held.push(act) : act())

  function lateMs(back: boolean): number {
    const { delayMs = 0, slowMs = 0, lossPercent = 0 } = state
    let ms = delayMs + (back ? slowMs : 0)
    for (let resend = firstResendMs; Math.random() * 100 < lossPercent; resend *= 2) ms += resend
    return ms
  }

  function pump(from: Socket, to: Socket, back: boolean): void {
    const pieces: (() => void)[] = []
    let lastAt = 0
    // In order: a late piece holds up the pieces behind it.
    const later = (piece: () => void, ms: number) => {
      if (ms === 0 && pieces.length === 0 && !state.silent) return piece()
      pieces.push(piece)
      lastAt = Math.max(lastAt, performance.now() + ms)
      setTimeout(() => whenOpen(pieces.shift()!), Math.max(1, lastAt - performance.now()))
    }
    open.add(from)
    from.on('data', (bytes: Buffer) =>
      later(() => void (to.writable && to.write(edit && !back ? edit(bytes) : bytes)), lateMs(back))
    )
    from.on('error', () => {})
    from.on('close', () => {
      open.delete(from)
      later(() => to.destroy(), 0)
    })
  }

  const server = createServer({ noDelay: true }, (near) => {
    if (state.cut) return void near.destroy()
    near.on('error', () => {})
    open.add(near)
    whenOpen(() => {
      if (near.destroyed) return void open.delete(near)
      const far = connect(target)
      far.setNoDelay(true)
      pump(near, far, false)
      pump(far, near, true)
    })
  })
  server.listen(0, host)
  await once(server, 'listening')
  const set = (next: LinkState) => {
    state = next
    if (state.cut) for (const socket of open) socket.destroy()
    if (state.silent) return
    const acts = held
    held = []
    for (const act of acts) act()
  }
  return {
    port: (server.address() as AddressInfo).port,
    set,
    close() {
      set({ cut: true })
      server.close()
    }
  }
}
