import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { accessSync, chmodSync, globSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Host, readHosts } from '../../src/platform/db/hosts/hosts.ts'
import { lookAt } from '../../src/platform/db/hosts/watch.ts'
import { startChild } from '../support/children.ts'
import { withClient } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { ask, type Json } from '../support/http.ts'
import { descendantsOf, livingProcesses } from '../support/processes.ts'
import { temporaryFolder } from '../support/program.ts'
import { network, type Place } from './network.ts'

const needed = { patroni: 'patroni', etcd: 'etcd-server', ip: 'iproute2', setpriv: 'util-linux' }

/** Says which of Debian's packages are missing. */
export function refuseWithoutPackages(): void {
  const path = `${process.env.PATH}:/usr/sbin:/usr/bin`.split(':')
  const has = (program: string) => path.some((folder) => canRead(join(folder, program)))
  const missing = Object.entries(needed).flatMap(([program, name]) => (has(program) ? [] : [name]))
  if (globSync('/usr/lib/postgresql/*/bin/pg_basebackup').length === 0) missing.push('postgresql')
  if (missing.length > 0) throw new Error(`This test needs Debian's packages: apt-get install ${missing.join(' ')}`)
  if (process.getuid?.() !== 0) throw new Error('This test makes network namespaces, so it must run as root.')
}

const canRead = (file: string) => {
  try {
    accessSync(file)
    return true
  } catch {
    return false
  }
}

export interface ClusterNode {
  name: string
  host: Host
  place: Place
  start(): void
  /** Kills Patroni and PostgreSQL at once, as a loss of power does. */
  kill(): void
}

/** Three PostgreSQL nodes under Patroni, with strictly synchronous replication, and an etcd. */
export async function patroniCluster(t: TestContext) {
  refuseWithoutPackages()
  const { here, places } = network(t, 3)
  const folder = await temporaryFolder(t)
  chmodSync(folder, 0o755)
  const etcd = `http://${here}:23790`
  const log = openSync(join(folder, 'etcd.log'), 'a')
  const args = ['--data-dir', join(folder, 'etcd'), '--listen-client-urls', etcd, '--advertise-client-urls', etcd]
  startChild(t, 'etcd', [...args, '--listen-peer-urls', `http://${here}:23800`], {
    stdio: ['ignore', log, log],
    env: { PATH: process.env.PATH, ...(process.arch === 'arm64' && { ETCD_UNSUPPORTED_ARCH: 'arm64' }) }
  })
  const url = `postgres://tidings:tidings@${places.map(({ address }) => `${address}:5432`).join(',')}/postgres`
  const hosts = readHosts(`${url}?sslmode=disable`)
  const nodes = places.map((place, index) => clusterNode(t, { folder, place, host: hosts[index]!, index, here }))
  for (const node of nodes) node.start()
  const primary = async (): Promise<ClusterNode | undefined> => {
    const states = await Promise.all(hosts.map(lookAt))
    return nodes[states.findIndex(({ kind }) => kind === 'primary')]
  }
  return {
    url: `${url}?sslmode=disable`,
    nodes,
    primary,
    /** The member that the primary waits for. */
    synchronous: async (): Promise<ClusterNode> => {
      const members = await membersOf(nodes)
      const found = members.find(({ role }) => role === 'sync_standby')
      return nodes.find(({ name }) => name === found?.name)!
    },
    /** All three run, and one standby is synchronous. */
    whole: () => eventually(() => assertWhole(nodes, primary), 120_000),
    /** Waits until another node takes writes, and returns it. */
    async promoted(before: ClusterNode, limitMs = 90_000): Promise<ClusterNode> {
      for (const untilMs = Date.now() + limitMs; Date.now() < untilMs; await sleep(20)) {
        const others = nodes.filter((node) => node !== before)
        const states = await Promise.all(others.map(({ host }) => lookAt(host)))
        const found = others[states.findIndex(({ kind }) => kind === 'primary')]
        if (found) return found
      }
      throw new Error(`no standby was promoted within ${limitMs} ms`)
    },
    switchover: async (from: ClusterNode) => {
      const json = { leader: from.name }
      const reply = await ask(`http://${from.place.address}:8008`, 'POST', '/switchover', { json })
      assert.equal(reply.status, 200, reply.text)
    }
  }
}

async function membersOf(nodes: ClusterNode[]): Promise<Json[]> {
  for (const { place } of nodes) {
    const late = sleep(2_000, undefined, { ref: false })
    const asked = ask(`http://${place.address}:8008`, 'GET', '/cluster').catch(() => undefined)
    const reply = await Promise.race([asked, late])
    if (reply) return reply.json.members
  }
  throw new Error('no node of the cluster responds')
}

async function assertWhole(nodes: ClusterNode[], primary: () => Promise<ClusterNode | undefined>): Promise<void> {
  const members = await membersOf(nodes)
  assert.deepEqual(members.map(({ role }) => role).sort(), ['leader', 'replica', 'sync_standby'])
  const leader = await primary()
  assert.ok(leader, 'there is a primary')
  const { rows } = await withClient(leader.host.url, (client) =>
    client.query(`select sync_state from pg_stat_replication where state = 'streaming' order by 1`)
  )
  assert.deepEqual(rows, [{ sync_state: 'async' }, { sync_state: 'sync' }])
}

interface Making {
  folder: string
  place: Place
  host: Host
  index: number
  here: string
}

function clusterNode(t: TestContext, { folder, place, host, index, here }: Making): ClusterNode {
  const name = `node${index + 1}`
  const home = join(folder, name)
  mkdirSync(home)
  const file = join(home, 'patroni.json')
  writeFileSync(file, JSON.stringify(settings(name, place.address, home, here)))
  execFileSync('chown', ['-R', 'postgres:postgres', home])
  chmodSync(home, 0o700)
  let pid: number | undefined
  return {
    name,
    host,
    place,
    start() {
      const log = openSync(join(folder, `${name}.log`), 'a')
      const asPostgres = ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', 'patroni', file]
      const [program, ...args] = place.inside(asPostgres)
      const env = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', HOME: home }
      const child = startChild(t, program!, args, { stdio: ['ignore', log, log], cwd: home, env })
      pid = child.pid
    },
    kill() {
      for (const one of [pid!, ...descendantsOf(pid!).map((child) => child.pid), ...serverIn(home)])
        try {
          process.kill(one, 'SIGKILL')
        } catch {} // It ended meanwhile.
    }
  }
}

/** PostgreSQL leaves the family of Patroni. */
function serverIn(home: string): number[] {
  return livingProcesses()
    .filter(({ command }) => command.includes(join(home, 'data')))
    .flatMap(({ pid }) => [pid, ...descendantsOf(pid).map((child) => child.pid)])
}

function settings(name: string, address: string, home: string, here: string) {
  const bin = dirname(globSync('/usr/lib/postgresql/*/bin/pg_basebackup').sort().at(-1)!)
  const role = { username: 'tidings', password: 'tidings' }
  const parameters = {
    max_connections: 100,
    shared_buffers: '64MB',
    wal_keep_size: '256MB',
    wal_retrieve_retry_interval: '500ms'
  }
  return {
    scope: 'tidings',
    name,
    restapi: { listen: `${address}:8008`, connect_address: `${address}:8008` },
    etcd3: { host: `${here}:23790` },
    bootstrap: {
      dcs: {
        ttl: 20,
        loop_wait: 1,
        retry_timeout: 3,
        synchronous_mode: true,
        synchronous_mode_strict: true,
        postgresql: { use_pg_rewind: true, use_slots: true, parameters }
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums']
    },
    postgresql: {
      listen: `${address}:5432`,
      connect_address: `${address}:5432`,
      data_dir: join(home, 'data'),
      bin_dir: bin,
      authentication: { superuser: role, replication: role, rewind: role },
      parameters: { unix_socket_directories: '' },
      pg_hba: ['host all all all scram-sha-256', 'host replication all all scram-sha-256']
    }
  }
}
