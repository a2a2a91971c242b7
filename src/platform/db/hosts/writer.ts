import pg from 'pg'
import type { Servers } from './servers.ts'
import { breakOff } from './watch.ts'

interface Inner {
  host: string
  port: number
  connectionParameters: { host: string; port: number }
  connection: NodeJS.EventEmitter & { stream: { destroyed: boolean; cork(): void; uncork(): void } }
}

/**
 * Makes the class of all our connections: each leads to the server that takes writes now, and is refused if that server
 * is a standby after all. A connection does not follow a change of the server; it ends, and the next one goes there.
 */
export function writerOf(servers: Servers): typeof pg.Client {
  return class Writer extends pg.Client {
    #corked = false

    /** Statements that are sent in the same moment, such as a `begin` and the first one, leave in one write. */
    // biome-ignore lint/suspicious/noExplicitAny: pg has many signatures of one method.
    override query(...args: any[]): any {
      if (!this.#corked) {
        const { stream } = (this as unknown as Inner).connection
        this.#corked = true
        stream.cork()
        process.nextTick(() => {
          this.#corked = false
          stream.uncork()
        })
      }
      // @ts-expect-error: the arguments are those of the method.
      return super.query(...args)
    }

    override connect(): Promise<this>
    override connect(callback: (error: Error) => void): void
    override connect(callback?: (error: Error) => void): Promise<this> | undefined {
      const connected = this.#reach()
      if (!callback) return connected
      connected.then(() => callback(undefined as unknown as Error), callback)
      return undefined
    }

    async #reach(): Promise<this> {
      // The owner listens only once the connection is open; an error before that must not end the process.
      this.on('error', () => {})
      const host = await servers.find()
      const inner = this as unknown as Inner
      // The pool destroys the stream of a connection that takes too long.
      if (inner.connection.stream.destroyed) throw new Error('timeout expired')
      if (host && servers.hosts.length > 1) {
        Object.assign(inner, { host: host.host, port: host.port })
        Object.assign(inner.connectionParameters, { host: host.host, port: host.port })
      }
      const reported = new Map<string, string>()
      inner.connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
        reported.set(parameterName, parameterValue)
      })
      try {
        await super.connect()
        // Servers report this when a connection begins. A pooler may repeat an old report, so the server is asked.
        if (reported.get('in_hot_standby') !== 'off') await refuseStandby(this)
      } catch (error) {
        servers.doubt()
        throw error
      }
      if (host) servers.opened(host, this)
      return this
    }
  }
}

async function refuseStandby(client: pg.Client): Promise<void> {
  const { rows } = await client.query('select pg_is_in_recovery() as standby')
  if (!rows[0].standby) return
  breakOff(client)
  throw Object.assign(new Error('the server is a standby, which takes no writes'), { code: '25006' })
}

/** Whether a statement failed because its server takes no writes (any more). */
export const isReadOnly = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '25006'
