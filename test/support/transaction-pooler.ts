import { createServer, type Socket } from 'node:net'
import { after } from 'node:test'
import pg from 'pg'

type Raw = pg.Client & { connection: { stream: Socket } }

/** A connection to the server after its start phase: from here on this pooler forwards its bytes. */
async function backEnd(url: string): Promise<Socket> {
  const client = new pg.Client({ connectionString: url }) as Raw
  client.on('error', () => {})
  await client.connect()
  const { stream } = client.connection
  stream.removeAllListeners('data')
  return stream
}

const message = (type: string, body: Buffer) => {
  const head = Buffer.alloc(5)
  head.write(type, 'latin1')
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}
const welcome = Buffer.concat([message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))])

/** Whether the bytes end with the message by which the server reports that no transaction is open. */
function isIdle(bytes: Buffer): boolean {
  return bytes.length >= 6 && bytes.subarray(-6).equals(message('Z', Buffer.from('I')))
}

/**
 * A minimal pooler in transaction mode: every client connects without a password, and the back end that was released
 * last serves the next client until its transaction ends.
 */
export async function transactionPooler(url: string): Promise<string> {
  const free: Socket[] = []
  const all = new Set<Socket>()
  const server = createServer((client) => {
    all.add(client)
    client.on('error', () => {})
    let started = false
    let using: Promise<Socket> | undefined
    const take = async () => {
      const stream = free.pop() ?? (await backEnd(url))
      all.add(stream)
      const answer = (bytes: Buffer) => {
        client.write(bytes)
        if (!isIdle(bytes)) return
        stream.off('data', answer)
        using = undefined
        free.push(stream)
      }
      stream.on('data', answer)
      return stream
    }
    client.on('data', async (bytes: Buffer) => {
      if (!started) {
        started = true
        client.write(welcome)
        return
      }
      // X: the client disconnects, and its back end stays.
      if (bytes[0] === 0x58) return void client.end()
      using ??= take()
      ;(await using).write(bytes)
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  after(() => {
    for (const socket of all) socket.destroy()
    server.close()
  })
  const { port } = server.address() as { port: number }
  const { username, pathname } = new URL(url)
  return `postgres://${username}@127.0.0.1:${port}${pathname}?sslmode=disable`
}
