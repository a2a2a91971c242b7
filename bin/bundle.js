// Finds the bundle of a checkout (scripts/bundle.ts, docs/performance.md). Plain JavaScript, like tidings.js.
import { readFileSync, statSync } from 'node:fs'
import module from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** Where scripts/bundle.ts writes, below the root. */
export const cache = join('node_modules', '.cache', 'tidings-start')

/**
 * Sizes and times of files. An edit changes them, and so does a checkout of another commit.
 * @param {string} root
 * @param {string[]} files
 */
export function markOf(root, files) {
  const marks = files.map((file) => {
    const found = statSync(join(root, file), { throwIfNoEntry: false })
    return found && `${found.size}:${found.mtimeMs}`
  })
  return marks.join(' ')
}

/** The entry of the bundle, if all that it was made from is unchanged. The sources run as they are otherwise. */
export function findBundle(root) {
  try {
    const made = JSON.parse(readFileSync(join(root, cache, 'current.json'), 'utf8'))
    if (made.root !== root || made.mark !== markOf(root, made.files)) return undefined
    const entry = join(root, cache, made.name, 'main.mjs')
    return statSync(entry, { throwIfNoEntry: false }) && pathToFileURL(entry).href
  } catch {
    return undefined // None was made, or this is not one that we know.
  }
}

/** Lets stack traces name the sources. The maps are read when the first trace is written. */
export function nameSources(entry) {
  const folder = dirname(fileURLToPath(entry))
  const maps = new Map()
  const mapOf = (file) => {
    if (!maps.has(file)) {
      const path = join(folder, `${file}.map`)
      maps.set(file, new module.SourceMap(JSON.parse(readFileSync(path, 'utf8'))))
    }
    return maps.get(file)
  }
  const prefix = `${pathToFileURL(folder).href}/`
  const named = (text) => {
    const [, file, line, column] = /^([^:]+\.mjs):(\d+):(\d+)/.exec(text) ?? []
    try {
      const { fileName, lineNumber, columnNumber } = mapOf(file).findOrigin(Number(line), Number(column))
      const rest = text.slice(`${file}:${line}:${column}`.length)
      return `${new URL(fileName, prefix).href}:${lineNumber}:${columnNumber}${rest}`
    } catch {
      return prefix + text
    }
  }
  Error.prepareStackTrace = (error, calls) => {
    const lines = calls.map((call) => {
      const [before, ...after] = `\n    at ${call}`.split(prefix)
      return before + after.map(named).join('')
    })
    return `${Error.prototype.toString.call(error)}${lines.join('')}`
  }
}
