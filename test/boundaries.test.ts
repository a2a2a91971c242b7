import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { describe, it } from 'node:test'

const root = resolve(import.meta.dirname, '..')
const src = resolve(root, 'src')

// Left may not know right. Adding a capability means deciding where it stands in this line.
const order = [
  'platform',
  'simulator',
  'projects',
  'users',
  'devices',
  'events',
  'sdk',
  'segments',
  'templates',
  'webhooks',
  'gateways',
  'channels',
  'messages',
  'campaigns',
  'triggers',
  'a2a',
  'manage',
  'console'
]
/** Rooms that stand outside and may see all: they compose. */
const outside = new Set(['cli'])

// The page runs in browsers, is built from packages of its own, and is entered by nobody.
const sources = globSync('**/*.ts', { cwd: src }).filter(
  (file) => !file.endsWith('.test.ts') && !file.startsWith('console/page/')
)
// A statement at the start of a line, or a call: SQL has its own `from '…'`.
const importing = /^(?:import|export)\b(?:[^;'"`=()]*?\bfrom)?\s*'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm
const imports = (file: string) =>
  [...readFileSync(resolve(src, file), 'utf8').matchAll(importing)].map(([, named, called]) => (named ?? called)!)

function offences(): string[] {
  const found: string[] = []
  for (const file of sources) {
    const [home, ...inside] = file.split('/')
    if (inside.length === 0 || outside.has(home!)) continue // main.ts, app.ts and the like, and cli/
    if (!order.includes(home!)) found.push(`${home}/ is not in the line of rooms`)
    for (const target of imports(file).filter((name) => name.startsWith('.'))) {
      const [there, ...rest] = relative(src, resolve(src, dirname(file), target)).split('/')
      if (there === home) continue
      if (!order.includes(there!)) found.push(`${file} reaches out to ${there}`)
      else if (order.indexOf(there!) > order.indexOf(home!)) found.push(`${file} must not know ${there}`)
      else if (there !== 'platform' && rest.join('/') !== `${there}.ts`)
        found.push(`${file} reaches into ${there}/${rest.join('/')}`)
      if (home === 'simulator' && there !== 'platform') found.push(`${file}: the simulator knows only the platform`)
    }
  }
  return found
}

describe('the house', () => {
  it('imports run one way, and enter a room only through its front file', () => {
    assert.deepEqual(offences(), [])
  })

  it('files stay short enough to be read: 400 lines at the very most', () => {
    const long = globSync(['src/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts', 'scripts/**/*.ts'], { cwd: root })
      .map((file) => [file, readFileSync(resolve(root, file), 'utf8').split('\n').length] as const)
      .filter(([, lines]) => lines > 400)
    assert.deepEqual(long, [])
  })

  it('every package that is imported is a declared dependency, pinned exactly', () => {
    const manifest = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8'))
    const used = new Set(
      sources
        .flatMap(imports)
        .filter((name) => !name.startsWith('.') && !name.startsWith('node:'))
        .map((name) =>
          name
            .split('/')
            .slice(0, name.startsWith('@') ? 2 : 1)
            .join('/')
        )
    )
    assert.deepEqual(
      [...used].filter((name) => !(name in manifest.dependencies) && !(name in manifest.optionalDependencies)),
      []
    )
    assert.ok(used.has('fastify') && used.has('pg'))
    const versions = Object.values({
      ...manifest.dependencies,
      ...manifest.devDependencies,
      ...manifest.optionalDependencies,
      ...manifest.overrides
    })
    assert.deepEqual(
      versions.filter((version) => !/^(npm:@?[\w/-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(String(version))),
      []
    )
    assert.ok(Object.keys(manifest.dependencies).length <= 25, 'a dependency is a decision')
  })

  it('the lock file names no registry', () => {
    assert.ok(!readFileSync(resolve(root, 'package-lock.json'), 'utf8').includes('"resolved": "http'))
  })
})
