// Builds dist/ from src/: the same files without types. Node strips types itself, but not under node_modules.
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { builtConsole } from '../src/console/console.ts'
import { commitOf } from '../src/platform/version.ts'

const root = dirname(import.meta.dirname)
const source = join(root, 'src')
const target = join(root, 'dist')

/** Matches `from './a.ts'`, `import './a.ts'` and `import('./a.ts')`, and no other text. */
const specifier = /(\bfrom\s*|\bimport\s*\(?\s*)(['"])(\.{1,2}\/[^'"\n]+)\.ts\2/g

rmSync(target, { recursive: true, force: true })
const files = globSync('**', { cwd: source, withFileTypes: true })
  .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts') && !entry.parentPath.includes('/console/page'))
  .map((entry) => join(entry.parentPath, entry.name).slice(source.length + 1))

for (const file of files) {
  const from = join(source, file)
  const to = join(target, file)
  mkdirSync(dirname(to), { recursive: true })
  if (!file.endsWith('.ts')) cpSync(from, to)
  else {
    // Types become blanks, so that stack traces have the lines and columns of the source.
    const code = stripTypeScriptTypes(readFileSync(from, 'utf8'), { mode: 'strip' }).replace(specifier, '$1$2$3.js$2')
    writeFileSync(`${to.slice(0, -3)}.js`, code)
  }
}
// What other programs import has declarations beside its files.
for (const [name, folder] of [
  ['client', 'client'],
  ['page', 'sdk/page'],
  ['worker', 'sdk/worker']
] as const) {
  const declare = ['-p', `tsconfig.${name}.json`, '--noEmit', 'false', '--declaration', '--emitDeclarationOnly']
  const places = ['--rootDir', join(source, folder), '--outDir', join(target, folder)]
  execFileSync(join(root, 'node_modules/.bin/tsc'), [...declare, ...places], { cwd: root })
  for (const file of globSync(`${folder}/*.d.ts`, { cwd: target })) {
    const path = join(target, file)
    writeFileSync(path, readFileSync(path, 'utf8').replace(specifier, '$1$2$3.js$2'))
  }
}
cpSync(await builtConsole(tmpdir()), join(target, 'console', 'built'), { recursive: true })
const commit = commitOf()
if (commit) writeFileSync(join(target, 'commit'), `${commit}\n`)
console.error(`dist: ${files.length} files and the console`)
