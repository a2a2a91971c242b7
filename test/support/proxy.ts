import { connect, createServer, type Socket } from 'node:net'
import { after } from 'node:test'

/**
 * A TCP proxy to the database that can be closed and opened again, like a failing network or server. `change` may edit
 * the bytes sent to the server, and must keep their length.
 */
export async function databaseProxy(url: string, change?: (bytes: Buffer) => Buffer) {
  const target = new URL(url)
  const folder = target.searchParams.get('host')
  const port = Number(target.port || 5432)
  const open = new Set<Socket>()
  let shut = false
  const server = createServer((socket) => {
    if (shut) return void socket.destroy()
    const upstream = folder ? connect(`${folder}/.s.PGSQL.${port}`) : connect(port, target.hostname)
    for (const [from, to] of [
      [socket, upstream],
      [upstream, socket]
    ] as const) {
      open.add(from)
      if (change && from === socket) from.on('data', (bytes: Buffer) => void to.write(change(bytes)))
      else from.pipe(to)
      from.on('error', () => {})
      from.on('close', () => {
        open.delete(from)
        to.destroy()
      })
    }
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address() as { port: number }
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String(address.port)
  through.searchParams.delete('host')
  const cut = () => {
    shut = true
    for (const socket of open) socket.destroy()
  }
  after(() => {
    cut()
    server.close()
  })
  const mend = () => {
    shut = false
  }
  return { url: through.href, cut, mend }
}
