// Checks every package of package-lock.json without a network: `npm run check` runs it. Advisories need one: `npm run advisories`.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface PackageLock {
  name?: string
  version?: string
  packages: Record<string, PackageEntry>
}

export interface PackageEntry {
  name?: string
  version?: string
  license?: string
  integrity?: string
  deprecated?: string
  hasInstallScript?: boolean
  dev?: boolean
  optional?: boolean
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  os?: string[]
  cpu?: string[]
}

/** Licences that let us ship a package beside ours. MPL-2.0 concerns changed files of the package, and we change none. */
const allowed = new Set([
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'Unlicense',
  'CC0-1.0',
  'MPL-2.0'
])

/** Packages that name a file in place of their licence. We have read it: the text of MIT. */
const readByUs = new Set(['@segment/facade', '@segment/isodate', '@segment/isodate-traverse', 'new-date'])
const isRead = (path: string, license: string) => license === 'SEE LICENSE IN LICENSE' && readByUs.has(nameOf(path))

/** Whether a licence is allowed; of several joined by OR, one is enough, and of those joined by AND, all are needed. */
export function isAllowed(expression: string): boolean {
  const plain = expression.replace(/^\((.*)\)$/, '$1')
  if (/[()]/.test(plain)) return false
  return plain.split(' OR ').some((part) => part.split(' AND ').every((one) => allowed.has(one.trim())))
}

export const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** Faults of the packages: licences, missing hashes, deprecation, scripts at installation, versions that are not exact. */
export function packageFaults(lock: PackageLock, refusedScripts: ReadonlySet<string>): string[] {
  const faults: string[] = []
  for (const [path, one] of Object.entries(lock.packages)) {
    const title = `${nameOf(path)} ${one.version}`
    if (path === '') {
      const wanted = { ...one.dependencies, ...one.optionalDependencies, ...one.devDependencies }
      for (const [name, range] of Object.entries(wanted))
        if (!/^(npm:\S+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(range)) faults.push(`${name} is not pinned: ${range}.`)
      continue
    }
    if (one.license === undefined) faults.push(`${title} names no licence.`)
    else if (!isAllowed(one.license) && !isRead(path, one.license))
      faults.push(`${title} has the licence ${one.license}, which is not on our list.`)
    if (!one.integrity?.startsWith('sha512-')) faults.push(`${title} has no SHA-512 in the lock.`)
    if (one.deprecated !== undefined) faults.push(`${title} is deprecated: ${one.deprecated}`)
    if (one.hasInstallScript && !one.dev && !refusedScripts.has(nameOf(path)) && !one.os?.includes('darwin'))
      faults.push(`${title} runs a script when it is installed, and allowScripts does not refuse it.`)
  }
  return faults
}

/** Installed packages whose own package.json names another licence than the lock. */
export function otherLicences(lock: PackageLock, root: string): string[] {
  return Object.entries(lock.packages).flatMap(([path, { version, license }]) => {
    const file = join(root, path, 'package.json')
    if (path === '' || !existsSync(file)) return []
    const own = licenceIn(JSON.parse(readFileSync(file, 'utf8')))
    return own === license ? [] : [`${nameOf(path)} ${version} says ${own}, and the lock says ${license}.`]
  })
}

/** Older packages have an object, or a list. */
function licenceIn(manifest: {
  license?: string | { type: string }
  licenses?: { type: string }[]
}): string | undefined {
  const { license, licenses } = manifest
  if (typeof license === 'object') return license.type
  return license ?? licenses?.map(({ type }) => type).join(' OR ')
}

if (import.meta.main) {
  const root = dirname(import.meta.dirname)
  const read = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'))
  const lock = read('package-lock.json') as PackageLock
  const scripts = read('package.json').allowScripts as Record<string, boolean>
  const refused = new Set(Object.keys(scripts).filter((name) => !scripts[name]))
  const faults = [...packageFaults(lock, refused), ...otherLicences(lock, root)]
  for (const sentence of faults) console.error(sentence)
  if (faults.length > 0) process.exit(1)
}
