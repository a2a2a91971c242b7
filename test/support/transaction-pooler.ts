import { createServer, type Socket } from 'node:net'
import { after } from 'node:test'
import pg from 'pg'

type Raw = pg.Client & { connection: { stream: Socket } }

/** A connection to the server past its start: from here on its bytes are ours. */
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

/** Whole messages of the server, and whether the last of them says that no transaction is open. */
function isIdle(bytes: Buffer): boolean {
  return bytes.length >= 6 && bytes.subarray(-6).equals(message('Z', Buffer.from('I')))
}

/**
 * A pooler in transaction mode, as small as one can be: every client gets in without a password, and the back end that
 * was last given back serves the next client, until its transaction is over.
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
      // X: the client says good-bye, and its back end stays.
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
