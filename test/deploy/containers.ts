import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { outputOf } from '../support/children.ts'
import { program } from './programs.ts'

export type Containers = Awaited<ReturnType<typeof containers>>

/**
 * buildah and podman with images and containers of their own. TIDINGS_IMAGE_STORE names a folder that keeps the images, so
 * that the next run builds only what has changed.
 */
export async function containers(t: TestContext) {
  if (process.getuid?.() !== 0)
    throw new Error('npm run test:image makes images from the files of root: run it as root.')
  for (const name of ['buildah', 'podman', 'runc', 'debootstrap'] as const) program(name)
  const folder = await mkdtemp(join(tmpdir(), 'tidings-test-'))
  const kept = process.env.TIDINGS_IMAGE_STORE
  const store = kept ?? join(folder, 'store')
  mkdirSync(store, { recursive: true })
  // crun refuses machines with both versions of cgroups, and a machine may forbid higher limits than its own.
  writeFileSync(
    join(folder, 'containers.conf'),
    `[containers]\nnetns = "host"\ndefault_ulimits = ["nofile=${openFiles()}:${openFiles()}", "nproc=4096:4096"]\n` +
      '[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "none"\n'
  )
  writeFileSync(
    join(folder, 'storage.conf'),
    `[storage]\ndriver = "overlay"\ngraphroot = "${store}"\nrunroot = "${join(folder, 'run')}"\n`
  )
  const env = {
    ...process.env,
    CONTAINERS_CONF: join(folder, 'containers.conf'),
    CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf')
  }
  const run = (name: 'buildah' | 'podman') => (args: string[], cwd?: string) =>
    outputOf(t, program(name), args, { env, ...(cwd && { cwd }) })
  const made = { folder, env, buildah: run('buildah'), podman: run('podman') }
  t.after(async () => {
    const end = (...args: string[]) => execFileSync(program('podman'), args, { env, stdio: 'ignore' })
    end('rm', '--all', '--force', '--time', '0', '--volumes')
    end('volume', 'prune', '--force')
    // The driver mounts this folder on itself.
    const mounted = join(store, 'overlay')
    if (readFileSync('/proc/self/mounts', 'utf8').includes(` ${mounted} `)) execFileSync('umount', ['-l', mounted])
    await rm(folder, { recursive: true, force: true })
  })
  return made
}

const openFiles = () => /^Max open files +\d+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? '1024'

/** Whether the store has this image already. */
export const hasImage = ({ podman }: Containers, name: string): Promise<boolean> =>
  podman(['image', 'exists', name]).then(
    () => true,
    () => false
  )

/** The certificates by which this machine trusts its registry of packages. */
export function certificates(): string {
  const file = process.env.NODE_EXTRA_CA_CERTS ?? '/etc/ssl/certs/ca-certificates.crt'
  if (!existsSync(file))
    throw new Error(`${file} is missing, and npm in the image needs it: apt-get install ca-certificates`)
  return file
}
