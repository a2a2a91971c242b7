import { spawnSync } from 'node:child_process'
import { accessSync, constants, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { root } from '../support/program.ts'

/** Programs of Debian that the tests of deploy/ run, with the packages that contain them. */
const packages = {
  buildah: 'buildah',
  podman: 'podman',
  runc: 'runc',
  debootstrap: 'debootstrap',
  nginx: 'nginx-light',
  haproxy: 'haproxy',
  patroni: 'patroni',
  pgbouncer: 'pgbouncer',
  prometheus: 'prometheus',
  promtool: 'prometheus',
  'systemd-analyze': 'systemd'
} as const

const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin']

/** The path of a program. Throws a sentence with the package if it is missing. */
export function program(name: keyof typeof packages): string {
  for (const folder of folders) {
    const path = join(folder, name)
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {} // Not in this folder.
  }
  throw new Error(`${name} is missing, and the tests of deploy/ run it: apt-get install ${packages[name]}`)
}

/** A file of deploy/ with other ports and paths. Each replaced text must occur, so that the file and its test stay alike. */
export function adapted(file: string, changes: Record<string, string>): string {
  let text = readFileSync(join(root, 'deploy', file), 'utf8')
  for (const [from, to] of Object.entries(changes)) {
    if (!text.includes(from)) throw new Error(`deploy/${file} does not contain ${from}`)
    text = text.replaceAll(from, to)
  }
  return text
}

/** Output of a program that must succeed. */
export function output(name: keyof typeof packages, ...args: string[]): { stdout: string; stderr: string } {
  const ended = spawnSync(program(name), args, { encoding: 'utf8', timeout: 60_000 })
  if (ended.status !== 0)
    throw new Error(`${name} ${args.join(' ')} ended with ${ended.status}:\n${ended.stdout}${ended.stderr}`)
  return { stdout: ended.stdout, stderr: ended.stderr }
}

/** Ports that were free a moment ago. All are held until the last one is known, so that they differ. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer()
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return server
    })
  )
  const ports = servers.map((server) => (server.address() as { port: number }).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
