// Bundles the sources of a checkout with their packages, because loading each of the files took most of a start
// (docs/performance.md). npm runs it at the end of `npm install`. bin/bundle.js says when the bundle is used.
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'vite'
import * as bundle from '../bin/bundle.js'

const root = dirname(import.meta.dirname)
const source = join(root, 'src')
const cache = join(root, bundle.cache)
const pointer = join(cache, 'current.json')

/** Vite builds the console in a process of its own. */
const apart = ['vite']

/** Few large files for a start: what opens the database, and the rest, which loads meanwhile. Each takes what it imports. */
const parts = [
  { name: 'run', test: /src\/cli\/service\/(serve|run)\.ts$/, priority: 2 },
  { name: 'app', test: /src\/app\.ts$/, priority: 1 }
]

/** Our code that looks for files beside itself finds them in the sources. */
const inPlace: Plugin = {
  name: 'in-place',
  transform(code, id) {
    if (!id.startsWith(source)) return undefined
    const places = { dirname: dirname(id), filename: id, url: pathToFileURL(id).href }
    return code.replace(/\bimport\.meta\.(dirname|filename|url)\b/g, (_, name: keyof typeof places) =>
      JSON.stringify(places[name])
    )
  }
}

/** V8 keeps a source with a single letter beyond Latin-1 in two bytes each: 4 MB more in memory, and slower to read. */
function writeInAscii(file: string): void {
  const text = readFileSync(file, 'utf8')
  // An escape would mean something else after a backslash, and in a template of String.raw.
  if (/\\[^\x00-\x7f]|String\.raw`[^`]*[^\x00-\x7f]/.test(text)) return
  const escaped = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
  writeFileSync(file, text.replace(/[^\x00-\x7f]/g, escaped))
}

/** Whether the bundle was made from the same files. `npm pack` asks for it too. */
function isMade(): boolean {
  if (!bundle.findBundle(root)) return false
  const made: { files: string[] } = JSON.parse(readFileSync(pointer, 'utf8'))
  return made.files.join() === files.join()
}

/** Removes all bundles but this one and the one before, of which a running service may still load parts. */
function tidy(name: string): void {
  const before = existsSync(pointer) ? JSON.parse(readFileSync(pointer, 'utf8')).name : undefined
  if (name === before) return
  for (const found of readdirSync(cache))
    if (/^[0-9a-f]{16}$/.test(found) && found !== name && found !== before)
      rmSync(join(cache, found), { recursive: true, force: true })
}

// Read before the build, so that an edit during it makes the bundle old. npm writes the second one whenever it changes a package.
const files = [
  ...globSync('**/*.ts', { cwd: source, exclude: ['console/page/**'] })
    .filter((file) => !file.endsWith('.test.ts'))
    .map((file) => join('src', file)),
  'node_modules/.package-lock.json',
  'scripts/bundle.ts'
].sort()
const mark = bundle.markOf(root, files)
if (isMade()) process.exit()

mkdirSync(cache, { recursive: true })
const building = mkdtempSync(join(cache, 'building-'))
// The service may run as another user than npm.
chmodSync(building, 0o755)
try {
  await build({
    ...{ root, configFile: false, envDir: false, publicDir: false, logLevel: 'error' },
    plugins: [inPlace],
    environments: {
      // The files that Node itself would load.
      ssr: { resolve: { conditions: ['node'], mainFields: ['main'], noExternal: true, external: apart } }
    },
    build: {
      ...{ ssr: true, outDir: building, target: 'node24', minify: false, sourcemap: 'hidden' },
      rolldownOptions: {
        input: join(source, 'main.ts'),
        // Both would leave out calls whose result is not used, also where only their errors count: `decodeURIComponent(path)`.
        treeshake: false,
        output: {
          ...{ minify: false, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' },
          codeSplitting: { groups: parts }
        }
      }
    }
  })
  for (const file of globSync('*.mjs', { cwd: building })) writeInAscii(join(building, file))
  // The entry names its parts, whose names are hashes, so its own hash stands for all.
  const name = createHash('sha256')
    .update(readFileSync(import.meta.filename))
    .update(readFileSync(join(building, 'main.mjs')))
    .digest('hex')
    .slice(0, 16)
  if (!existsSync(join(cache, name))) renameSync(building, join(cache, name))
  tidy(name)
  writeFileSync(`${pointer}.new`, JSON.stringify({ root, name, files, mark }))
  renameSync(`${pointer}.new`, pointer)
} finally {
  rmSync(building, { recursive: true, force: true })
}
