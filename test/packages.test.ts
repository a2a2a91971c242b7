import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { isAllowed, otherLicences, type PackageLock, packageFaults } from '../scripts/packages.ts'
import { runtimePackages } from '../scripts/runtime.ts'
import { sbomOf } from '../scripts/sbom.ts'

const root = resolve(import.meta.dirname, '..')
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as PackageLock
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const scripts = new Set(Object.keys(manifest.allowScripts))
const good = { version: '1.0.0', license: 'MIT', integrity: 'sha512-AA==' }
const faultsOf = (one: object) => packageFaults({ packages: { 'node_modules/a': { ...good, ...one } } }, scripts)

describe('the packages of this project', () => {
  it('have licences of our list, hashes, and no scripts that npm may run', () => {
    assert.deepEqual(packageFaults(lock, scripts), [])
    assert.deepEqual(otherLicences(lock, root), [])
  })

  it('are refused with an unknown licence, without a licence or hash, deprecated, with a script, or not pinned', () => {
    assert.deepEqual(faultsOf({}), [])
    assert.match(faultsOf({ license: 'GPL-3.0' })[0]!, /^a 1\.0\.0 has the licence GPL-3\.0/)
    assert.match(faultsOf({ license: undefined })[0]!, /names no licence/)
    assert.match(faultsOf({ integrity: 'sha1-AA==' })[0]!, /no SHA-512/)
    assert.match(faultsOf({ deprecated: 'use b' })[0]!, /deprecated: use b/)
    assert.match(faultsOf({ hasInstallScript: true })[0]!, /runs a script/)
    const loose = packageFaults({ packages: { '': { dependencies: { a: '^1.0.0' } } } }, scripts)
    assert.deepEqual(loose, ['a is not pinned: ^1.0.0.'])
  })

  it('may have one of several licences, or all of several', () => {
    for (const text of ['MIT', '(MIT OR GPL-2.0)', 'MIT AND ISC', '(BSD-3-Clause OR GPL-2.0)'])
      assert.ok(isAllowed(text), text)
    for (const text of ['GPL-2.0', 'MIT AND GPL-2.0', 'UNLICENSED', 'SEE LICENSE IN x'])
      assert.ok(!isAllowed(text), text)
  })
})

describe('the list of what a package brings (SBOM)', () => {
  const sbom = sbomOf(lock)
  const named = new Map(
    sbom.components.map((one) => [`${one.group ? `${one.group}/` : ''}${one.name}@${one.version}`, one])
  )

  it('has exactly the packages that are installed for run time, and beside them only those of other machines', () => {
    const installed = installedFor(manifest)
    assert.ok(installed.size > 100)
    assert.deepEqual(
      [...installed].filter((one) => !named.has(one)),
      []
    )
    const others = [...named].filter(([one]) => !installed.has(one))
    assert.deepEqual(
      others.filter(([, { scope }]) => scope !== 'optional').map(([one]) => one),
      []
    )
  })

  it('has no package that only the development needs', () => {
    for (const name of ['typescript', '@biomejs/biome', 'playwright-core', 'fast-check'])
      assert.ok(![...named.keys()].some((one) => one.startsWith(`${name}@`)), name)
  })

  it('gives each package its version, licence, SHA-512 and address, and names only packages of the list', () => {
    const refs = new Set([sbom.metadata.component['bom-ref'], ...sbom.components.map((one) => one['bom-ref'])])
    for (const one of sbom.components) {
      assert.match(one.purl, /^pkg:npm\/(%40[^/]+\/)?[^/@]+@\d/)
      assert.match(one.hashes[0]!.content, /^[0-9a-f]{128}$/)
      assert.equal(one.licenses.length, 1)
    }
    assert.deepEqual(new Set(sbom.dependencies.map(({ ref }) => ref)), refs)
    for (const { dependsOn } of sbom.dependencies) assert.ok(dependsOn.every((one) => refs.has(one)))
  })

  it('is the same for the same lock', () => assert.deepEqual(sbomOf(lock), sbom))
})

describe('the packages of an image', () => {
  it('are those that the sources import, and those that these need', () => {
    const paths = runtimePackages(lock, ["import pg from 'pg'"], [])
    assert.ok(paths.includes('node_modules/pg') && paths.includes('node_modules/pg-protocol'))
    assert.ok(!paths.includes('node_modules/vite'))
  })
})

/** What Node finds from package.json on, package by package, without the lock. */
function installedFor(own: { dependencies: object; optionalDependencies: object }): Set<string> {
  const found = new Set<string>()
  const seen = new Set<string>()
  const visit = (folder: string, wanted: string[]): void => {
    for (const name of wanted) {
      const place = createRequire(join(folder, 'x.js'))
        .resolve.paths(name)!
        .map((one) => join(one, name))
        .find((one) => exists(join(one, 'package.json')))
      if (place === undefined || seen.has(place)) continue
      seen.add(place)
      const read = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'))
      found.add(`${read.name}@${read.version}`)
      visit(place, Object.keys({ ...read.dependencies, ...read.optionalDependencies }))
    }
  }
  visit(dirname(join(root, 'x')), Object.keys({ ...own.dependencies, ...own.optionalDependencies }))
  return found
}

function exists(file: string): boolean {
  try {
    readFileSync(file)
    return true
  } catch {
    return false
  }
}
