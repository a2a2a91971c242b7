import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeCertificates } from '../../src/simulator/server/certificates.ts'
import { startChild } from '../support/children.ts'
import { emptyDatabase, withClient } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import type { Asked, Reply } from '../support/http.ts'
import { type Program, startProgram, temporaryFolder } from '../support/program.ts'
import { adapted, freePorts, program } from './programs.ts'

export type Installation = Awaited<ReturnType<typeof installation>>
type Asking = Asked & { localAddress?: string }

/** The authority that issued the certificate of both proxies. */
let authority = ''

/** Two nodes on one database, and both proxies in front of them. */
export async function installation(t: TestContext) {
  const { url } = await emptyDatabase(t)
  const folder = await temporaryFolder(t)
  const [first, second, nginxPlain, nginxTls, haproxyPlain, haproxyTls] = (await freePorts(6)) as [number, ...number[]]
  const certificates = await makeCertificates({ host: '127.0.0.1' })
  authority = certificates.ca
  writeFileSync(join(folder, 'tidings.pem'), `${certificates.cert}\n${certificates.key}`)
  const ports = [first, second!] as const
  const env = {
    DATABASE_URL: url,
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    BOOTSTRAP_ADMIN_TOKEN: 'svc_at_deploy',
    BOOTSTRAP_PROJECT_ID: 'shop',
    BOOTSTRAP_SECRET_KEY: 'svc_sk_deploy',
    TRUST_PROXY: '1',
    DRAIN_SECONDS: '2'
  }
  const start = (node: 0 | 1) =>
    startProgram(t, { ...env, PORT: String(ports[node]), DATA_DIR: join(folder, `node-${node}`) })
  // One after the other, because the first one sets the database up.
  const nodes: Program[] = [start(0)]
  await nodes[0]!.ready
  nodes.push(start(1))
  await nodes[1]!.ready

  const nginx = await startNginx(t, folder, ports, [nginxPlain!, nginxTls!])
  const haproxy = await startHaproxy(t, folder, ports, [haproxyPlain!, haproxyTls!])
  return {
    urls: { nginx: `https://127.0.0.1:${nginxTls}`, haproxy: `https://127.0.0.1:${haproxyTls}` },
    plain: { nginx: `http://127.0.0.1:${nginxPlain}`, haproxy: `http://127.0.0.1:${haproxyPlain}` },
    projectId: 'shop',
    adminToken: env.BOOTSTRAP_ADMIN_TOKEN,
    keys: { 'x-service-project-id': 'shop', 'x-service-api-key': env.BOOTSTRAP_SECRET_KEY },
    /** nginx has no checks of its own, so that it is told; HAProxy asks the node. */
    takeOut: (node: 0 | 1) => nginx.set(node, 'down'),
    async restart(node: 0 | 1) {
      nodes[node]!.child.kill('SIGTERM')
      await nodes[node]!.exited
      nodes[node] = start(node)
      await nodes[node]!.ready
    },
    async putBack(node: 0 | 1) {
      await nginx.set(node, 'up')
      await haproxy.isUp(node)
    },
    /** The address that the session of this browser has. */
    async addressOf(userAgent: string): Promise<string> {
      const text = 'select address from sessions where user_agent = $1'
      const { rows } = await withClient(url, (client) => client.query(text, [userAgent]))
      return rows[0]?.address
    },
    async users(): Promise<Set<string>> {
      const { rows } = await withClient(url, (client) => client.query('select project_user_id from users'))
      return new Set(rows.map((row) => row.project_user_id))
    }
  }
}

type Pair = readonly [number, number]

async function startNginx(t: TestContext, folder: string, nodes: Pair, [plain, tls]: Pair) {
  const site = join(folder, 'tidings.conf')
  const usual = adapted('nginx/tidings.conf', {
    '127.0.0.1:8080': `127.0.0.1:${nodes[0]}`,
    '127.0.0.1:8081': `127.0.0.1:${nodes[1]}`,
    'listen 80;': `listen 127.0.0.1:${plain};`,
    'listen [::]:80;': '',
    'listen 443 ': `listen 127.0.0.1:${tls} `,
    'listen [::]:443 ssl http2;': '',
    '/etc/ssl/tidings.pem': join(folder, 'tidings.pem'),
    '/etc/ssl/private/tidings.key': join(folder, 'tidings.pem')
  })
  writeFileSync(site, usual)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${join(folder, name)};`)
    .join(' ')
  const main = join(folder, 'nginx.conf')
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  writeFileSync(
    main,
    `${user} daemon off; worker_processes 1; pid ${join(folder, 'nginx.pid')}; error_log ${join(folder, 'nginx.log')};
     events {} http { access_log off; ${temporary} include ${site}; }`
  )
  const child = startChild(t, program('nginx'), ['-e', join(folder, 'nginx.log'), '-c', main], { stdio: 'inherit' })
  await answers(tls)
  return {
    child,
    async set(node: 0 | 1, state: 'up' | 'down') {
      const line = `server 127.0.0.1:${nodes[node]} `
      writeFileSync(site, state === 'up' ? usual : usual.replace(line, `${line}down `))
      const workers = () => readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ')
      const old = workers()
      child.kill('SIGHUP')
      // The old worker process ends when its last request has ended.
      await eventually(() => {
        if (workers().some((pid) => old.includes(pid))) throw new Error('nginx still has its previous worker process')
      })
    }
  }
}

async function startHaproxy(t: TestContext, folder: string, nodes: Pair, [plain, tls]: Pair) {
  const file = join(folder, 'haproxy.cfg')
  const socket = join(folder, 'haproxy.sock')
  writeFileSync(
    file,
    adapted('haproxy/haproxy.cfg', {
      '127.0.0.1:8080': `127.0.0.1:${nodes[0]}`,
      '127.0.0.1:8081': `127.0.0.1:${nodes[1]}`,
      'bind :80\n': `bind 127.0.0.1:${plain}\n`,
      'bind :443 ': `bind 127.0.0.1:${tls} `,
      '/etc/haproxy/tidings.pem': join(folder, 'tidings.pem'),
      '/run/haproxy/admin.sock': socket,
      // The limit of open files of a test may be small.
      'maxconn 20000': 'maxconn 500',
      'stdout format raw local0 notice': 'stdout format raw local0 emerg'
    })
  )
  const child = startChild(t, program('haproxy'), ['-db', '-q', '-f', file], { stdio: 'inherit' })
  await answers(tls)
  return {
    child,
    isUp: (node: 0 | 1) =>
      eventually(async () => {
        const asking = connect(socket)
        asking.write('show stat\n')
        if (!new RegExp(`^nodes,node-${node + 1},.*,UP,`, 'm').test(await text(asking)))
          throw new Error(`HAProxy does not see node ${node + 1} yet`)
      })
  }
}

async function answers(port: number): Promise<void> {
  await eventually(async () => {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.destroy()
  })
}

/** One request over a connection of its own. */
export async function httpsAsk(base: string, method: string, path: string, asked: Asking = {}): Promise<Reply> {
  const response = await begun(base, method, path, asked)
  const body = await text(response)
  return {
    status: response.statusCode!,
    headers: response.headers,
    text: body,
    get json() {
      return JSON.parse(body)
    }
  }
}

/** A response that is read as it comes. */
export async function httpsStream(base: string, method: string, path: string, asked: Asking = {}) {
  const response = await begun(base, method, path, asked)
  let seen = ''
  response.on('data', (chunk) => {
    seen += chunk
  })
  response.on('error', () => {})
  return { text: () => seen, end: () => response.destroy() }
}

async function begun(base: string, method: string, path: string, asked: Asking): Promise<IncomingMessage> {
  const { hostname, port } = new URL(base)
  const sent = asked.json === undefined ? asked.body : JSON.stringify(asked.json)
  const headers = { ...(sent !== undefined && { 'content-type': 'application/json' }), ...asked.headers }
  const { localAddress } = asked
  const outgoing = request({
    ...{ hostname, port, method, path, headers, ca: authority, agent: false },
    ...(localAddress && { localAddress }),
    signal: AbortSignal.timeout(30_000)
  })
  outgoing.end(sent)
  const failed = once(outgoing, 'error').then(([error]) => {
    throw error
  })
  failed.catch(() => {})
  const [response] = (await Promise.race([once(outgoing, 'response'), failed])) as [IncomingMessage]
  await sleep(0)
  return response
}
