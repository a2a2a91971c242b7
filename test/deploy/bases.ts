import { cpSync, globSync, mkdirSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { outputOf } from '../support/children.ts'
import { type Containers, hasImage } from './containers.ts'
import { program } from './programs.ts'

/** The names of the two images that the Containerfile starts from, as the tests make them. */
export const bases = { NODE_IMAGE: 'localhost/node:24-bookworm-slim', BASE_IMAGE: 'localhost/debian:bookworm-slim' }
/** Where containers of the build find the certificates of the registry. */
export const authority = '/run/authority.crt'

/** Makes both from Debian's packages and the Node of this project, because there may be no registry of images. */
export async function makeBases(t: TestContext, on: Containers): Promise<void> {
  if ((await hasImage(on, bases.NODE_IMAGE)) && (await hasImage(on, bases.BASE_IMAGE))) return
  const debian = join(on.folder, 'debian')
  await outputOf(t, program('debootstrap'), ['--variant=minbase', 'bookworm', debian], {})
  slim(debian)
  await image(on, bases.BASE_IMAGE, 'FROM scratch\nCOPY debian /\nCMD ["bash"]\n')
  const local = join(on.folder, 'node/usr/local')
  const npm = join(local, 'lib/node_modules/npm')
  mkdirSync(join(local, 'bin'), { recursive: true })
  cpSync(process.execPath, join(local, 'bin/node'))
  cpSync(machinesNpm(), npm, { recursive: true })
  for (const name of ['npm', 'npx']) symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, 'bin', name))
  await image(on, bases.NODE_IMAGE, `FROM ${bases.BASE_IMAGE}\nCOPY node /\nENV NODE_EXTRA_CA_CERTS=${authority}\n`)
  for (const name of ['debian', 'node']) rmSync(join(on.folder, name), { recursive: true })
}

async function image({ folder, buildah }: Containers, name: string, text: string): Promise<void> {
  const file = join(folder, 'Containerfile')
  writeFileSync(file, text)
  await buildah(['build', '--isolation', 'oci', '--tag', name, '--file', file, folder])
}

/** Removes what the slim images of Debian leave out too: docs except for licences, translations, lists of packages, logs. */
function slim(debian: string): void {
  const emptied = ['info', 'linda', 'lintian', 'locale', 'man'].map((name) => `usr/share/${name}`)
  for (const folder of [...emptied, 'var/lib/apt/lists', 'var/cache/apt', 'var/log'])
    for (const name of globSync(`${folder}/*`, { cwd: debian })) rmSync(join(debian, name), { recursive: true })
  for (const entry of readdirSync(join(debian, 'usr/share/doc'), { recursive: true, withFileTypes: true }))
    if (!entry.isDirectory() && entry.name !== 'copyright') rmSync(join(entry.parentPath, entry.name), { force: true })
}

/** npm of this machine: node_modules/.bin has Node only. */
function machinesNpm(): string {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const [found] = globSync(join(folder, 'npm'))
    if (found) return dirname(dirname(realpathSync(found)))
  }
  throw new Error('npm is missing, and npm run test:image puts it into an image.')
}
