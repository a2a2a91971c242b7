import { existsSync, globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'

const page = join(import.meta.dirname, 'page')
const core = dirname(createRequire(import.meta.url).resolve('@mantine/core/styles.css'))
const text = (path: string) => readFileSync(path, 'utf8')

/** The names that the page imports from the library. */
function usedNames(): Set<string> {
  const imported = /import\s*\{([^}]*)\}\s*from '@mantine\/core'/g
  const sources = globSync('**/*.{ts,tsx}', { cwd: page }).map((name) => text(join(page, name)))
  const lists = sources.flatMap((source) => [...source.matchAll(imported)].map(([, names]) => names!))
  return new Set(lists.flatMap((names) => names.split(',').map((name) => name.trim().split(' as ')[0]!)))
}

/** The files of the library that a file of it needs, itself included. */
function neededFiles(file: string, seen: Set<string>): Set<string> {
  if (seen.has(file) || !existsSync(file)) return seen
  seen.add(file)
  for (const [, target] of text(file).matchAll(/from "(\.[^"]+)"/g)) neededFiles(resolve(dirname(file), target!), seen)
  return seen
}

/** The styles of the components that the page uses, in the order of the library's own file with all styles. */
function usedStyles(): string[] {
  const entry = text(join(core, 'esm/index.mjs'))
  const used = usedNames()
  const files = new Set<string>()
  for (const [, name, target] of entry.matchAll(/^import \{ (\w+)\b[^}]*\} from "(\.[^"]+)"/gm))
    if (used.has(name!)) neededFiles(join(core, 'esm', target!), files)
  const parts = [...files].map((file) => /\/(\w+)\.module\.mjs$/.exec(file)?.[1]).filter((name) => name !== undefined)
  const all = text(join(core, 'styles.css'))
  return ['baseline', 'default-css-variables', 'global', ...parts]
    .map((name) => `${name}.css`)
    .filter((name) => existsSync(join(core, 'styles', name)))
    .map((name) => ({ name, at: all.indexOf(text(join(core, 'styles', name)).trim()) }))
    .sort((one, other) => one.at - other.at)
    .map(({ name }) => name)
}

/**
 * `virtual:used-styles` imports the styles of the components that the page uses: those of all components are twice as
 * much to load.
 */
export const usedStylesPlugin = () => ({
  name: 'used-styles',
  resolveId: (id: string) => (id === 'virtual:used-styles' ? '\0used-styles' : undefined),
  load: (id: string) =>
    id === '\0used-styles'
      ? usedStyles()
          .map((name) => `import '@mantine/core/styles/${name}'`)
          .join('\n')
      : undefined
})
