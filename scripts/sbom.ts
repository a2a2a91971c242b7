// Writes sbom.cdx.json: what a package of Tidings brings with it, as CycloneDX. `npm pack` runs it, and the package contains it.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { nameOf, type PackageEntry, type PackageLock } from './packages.ts'

const purl = (name: string, version: string) => `pkg:npm/${name.replace(/^@/, '%40')}@${version}`

/** A document that depends on the lock alone, so that two builds of one commit have the same. */
export function sbomOf(lock: PackageLock) {
  const own = lock.packages['']!
  const shipped = shippedPackages(lock)
  const ref = (path: string) => {
    const one = lock.packages[path]!
    return path === '' ? purl(own.name!, own.version!) : purl(one.name ?? nameOf(path), one.version!)
  }
  const dependsOn = (path: string) => [
    ...new Set(
      wishes(lock.packages[path]!).flatMap((name) => {
        const found = located(lock, path, name)
        return found !== undefined && shipped.has(found) ? [ref(found)] : []
      })
    )
  ]
  const paths = [...shipped].sort()
  // Two copies of one version in different folders are one component.
  const components = new Map(paths.map((path) => [ref(path), componentOf(ref(path), path, lock.packages[path]!)]))
  const digest = createHash('sha256')
    .update(JSON.stringify([...components.keys()]))
    .digest('hex')
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-5$3-8$4-$5')}`,
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': ref(''),
        name: own.name,
        version: own.version,
        purl: ref(''),
        licenses: [{ license: { id: own.license } }]
      }
    },
    components: [...components.values()],
    dependencies: [...new Map(['', ...paths].map((path) => [ref(path), dependsOn(path)]))].map(([one, needed]) => ({
      ref: one,
      dependsOn: needed
    }))
  }
}

const wishes = (one: PackageEntry) => Object.keys({ ...one.dependencies, ...one.optionalDependencies })

/** The packages that `npm install tidings` may install, on some machine. */
function shippedPackages(lock: PackageLock): Set<string> {
  const found = new Set<string>()
  const visit = (path: string): void => {
    for (const name of wishes(lock.packages[path]!)) {
      const next = located(lock, path, name)
      if (next === undefined || found.has(next)) continue
      found.add(next)
      visit(next)
    }
  }
  visit('')
  return found
}

/** Node looks in the folder of the package, and then in each folder above it. */
export function located(lock: PackageLock, path: string, name: string): string | undefined {
  for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const found = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (lock.packages[found]) return found
    if (folder === '') return undefined
  }
}

function componentOf(ref: string, path: string, one: PackageEntry) {
  const [group, name] = /^(?:(@[^/]+)\/)?(.+)$/.exec(one.name ?? nameOf(path))!.slice(1)
  const hash = Buffer.from(one.integrity!.replace('sha512-', ''), 'base64').toString('hex')
  return {
    type: 'library',
    'bom-ref': ref,
    ...(group && { group }),
    name,
    version: one.version,
    scope: one.optional ? 'optional' : 'required',
    hashes: [{ alg: 'SHA-512', content: hash }],
    licenses: /[ (]/.test(one.license!) ? [{ expression: one.license }] : [{ license: { id: one.license } }],
    purl: ref
  }
}

if (import.meta.main) {
  const root = dirname(import.meta.dirname)
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as PackageLock
  const sbom = sbomOf(lock)
  writeFileSync(join(root, 'sbom.cdx.json'), `${JSON.stringify(sbom, null, 2)}\n`)
  console.error(`sbom.cdx.json: ${sbom.components.length} packages`)
}
