import { after } from 'node:test'
import { openLink } from './link.ts'

/**
 * A link to the database that can be closed and opened again, like a failing network or server. `change` may edit the
 * bytes sent to the server, and must keep their length.
 */
export async function databaseProxy(url: string, change?: (bytes: Buffer) => Buffer, host = '127.0.0.1') {
  const target = new URL(url)
  const folder = target.searchParams.get('host')
  const port = Number(target.port || 5432)
  const link = await openLink(folder ? { path: `${folder}/.s.PGSQL.${port}` } : { port, host: target.hostname }, {
    host,
    ...(change && { edit: change })
  })
  after(link.close)
  const through = new URL(url)
  through.hostname = host
  through.port = String(link.port)
  through.searchParams.delete('host')
  return { url: through.href, set: link.set, cut: () => link.set({ cut: true }), mend: () => link.set({}) }
}
