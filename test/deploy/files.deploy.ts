import assert from 'node:assert/strict'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import { startChild } from '../support/children.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/program.ts'
import { adapted, freePorts, output, program } from './programs.ts'

describe('the topology with Patroni and pgbouncer', () => {
  it('has a configuration that Patroni accepts', async (t) => {
    const folder = await temporaryFolder(t)
    const [rest, server] = await freePorts(2)
    // Patroni wants to reach etcd, and addresses other than 127.0.0.1.
    const etcd = createServer().listen(0, '127.0.0.2')
    t.after(() => etcd.close())
    await once(etcd, 'listening')
    const file = join(folder, 'config.yml')
    const text = adapted('patroni/patroni.yml', {
      '10.0.0.21:8008': `127.0.0.2:${rest}`,
      '10.0.0.21:5432': `127.0.0.2:${server}`,
      '10.0.0.21:2379,10.0.0.22:2379,10.0.0.23:2379': `127.0.0.2:${(etcd.address() as AddressInfo).port}`,
      '/var/lib/postgresql/15/tidings': join(folder, 'data'),
      '/usr/lib/postgresql/15/bin': programsOfPostgres()
    })
    await writeFile(file, text)
    output('patroni', '--validate-config', file)
    // It counts as lost only if no standby has it.
    const { dcs } = parse(text).bootstrap
    assert.deepEqual([dcs.synchronous_mode, dcs.synchronous_mode_strict], [true, true])
  })

  it('has a configuration that HAProxy accepts', async (t) => {
    const folder = await temporaryFolder(t)
    const file = join(folder, 'haproxy.cfg')
    await writeFile(file, adapted('patroni/haproxy.cfg', { 'pg-1': 'pg-1' }))
    output('haproxy', '-c', '-f', file)
  })

  it('has a configuration with which pgbouncer starts, in transaction mode', async (t) => {
    const folder = await temporaryFolder(t)
    const [port] = await freePorts(1)
    const log = join(folder, 'pgbouncer.log')
    await writeFile(join(folder, 'userlist.txt'), '"tidings" "choose-one"\n')
    await writeFile(
      join(folder, 'pgbouncer.ini'),
      adapted('patroni/pgbouncer.ini', {
        'listen_addr = *': 'listen_addr = 127.0.0.1',
        'listen_port = 6432': `listen_port = ${port}\nlogfile = ${log}`,
        '/etc/pgbouncer/userlist.txt': join(folder, 'userlist.txt'),
        'client_tls_sslmode = prefer': 'client_tls_sslmode = disable',
        'pool_mode = transaction': 'pool_mode = transaction'
      })
    )
    // pgbouncer refuses to run as root.
    const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    await chmod(folder, 0o777)
    const child = startChild(t, program('pgbouncer'), [join(folder, 'pgbouncer.ini')], {
      stdio: ['ignore', 'ignore', 'pipe'],
      ...nobody
    })
    let said = ''
    child.stderr!.on('data', (chunk) => {
      said += chunk
    })
    await eventually(() => assert.match(said, /process up: PgBouncer/))
    assert.doesNotMatch(said, /WARNING|ERROR|FATAL/)
  })
})

function programsOfPostgres(): string {
  const [found] = globSync('/usr/lib/postgresql/*/bin')
  if (!found)
    throw new Error('PostgreSQL of Debian is missing, and npm run test:deploy needs it: apt-get install postgresql')
  return found
}
