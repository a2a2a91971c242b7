// Checks package-lock.json for machines other than this one, and node_modules for this one: `npm run check` runs it first.
// npm silently leaves out an optional package that the registry does not have, and other machines then lack it.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface Lock {
  packages: Record<string, LockedPackage>
}

interface LockedPackage {
  version?: string
  os?: string[]
  cpu?: string[]
  libc?: string[]
  engines?: { node?: string } | string[]
  optionalDependencies?: Record<string, string>
}

/** The first Node that Vite accepts. An older Node 20 only adds warnings to `npm install`. */
const oldestNode = [20, 19, 0] as const
const linux = /(^|[-/])linux-(x64|x86_64|amd64|arm64|aarch64)(-(gnu|glibc))?$/
const darwin = /(^|[-/])darwin-(x64|arm64|universal)$|^fsevents$/

/** Problems of the lock: errors break a promise of the README, notices concern macOS. */
export function lockProblems(lock: Lock): { errors: string[]; notices: string[] } {
  const errors: string[] = []
  const notices: string[] = []
  for (const [path, locked] of Object.entries(lock.packages)) {
    const owner = path === '' ? 'package.json' : `${nameOf(path)} ${locked.version}`
    for (const [name, wanted] of Object.entries(locked.optionalDependencies ?? {})) {
      if (holds(lock, path, name, wanted)) continue
      const sentence = `${owner} lists ${name}@${wanted}, and package-lock.json does not hold it.`
      if (linux.test(name)) errors.push(sentence)
      else if (darwin.test(name)) notices.push(sentence)
    }
    const range = Array.isArray(locked.engines) ? undefined : locked.engines?.node
    const onLinux = !locked.os || locked.os.includes('linux')
    if (path !== '' && range !== undefined && onLinux && !accepts(range, oldestNode)) {
      errors.push(`${owner} asks for Node ${range}: npm install would warn about it on Node 20.`)
    }
  }
  return { errors, notices }
}

const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** Node looks in the folder of the package, and then in each folder above it. */
function holds(lock: Lock, path: string, name: string, wanted: string): boolean {
  for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const found = lock.packages[folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`]
    if (found) return !/^\d/.test(wanted) || found.version === wanted
    if (folder === '') return false
  }
}

/** Packages of the lock for this machine that are not in node_modules. */
export function notInstalled(lock: Lock, root: string): string[] {
  const meant = ({ os, cpu, libc }: LockedPackage) =>
    (os?.includes(process.platform) ?? true) &&
    (cpu?.includes(process.arch) ?? true) &&
    (libc?.includes('glibc') ?? true)
  return Object.entries(lock.packages)
    .filter(([path, locked]) => path !== '' && meant(locked) && !existsSync(join(root, path, 'package.json')))
    .map(([path]) => nameOf(path))
}

/** Whether a version is in a range of npm. */
export function accepts(range: string, version: readonly number[]): boolean {
  return range.split('||').some((part) =>
    part
      .trim()
      .replace(/([<>=^~])\s+/g, '$1')
      .split(/\s+/)
      .every((comparator) => meets(comparator, version))
  )
}

function meets(comparator: string, version: readonly number[]): boolean {
  const [, sign, text] = /^([<>]=?|[=^~])?v?(\d+(?:\.\d+)*)?(?:\.[x*])*$/.exec(comparator.replace(/^[x*]$/, '')) ?? []
  if (text === undefined) return comparator === '' || /^[x*]$/.test(comparator)
  const bound = text.split('.').map(Number)
  const order = compared(version, bound)
  if (sign === '>=') return order >= 0
  if (sign === '<=') return order <= 0
  if (sign === '>') return order > 0
  if (sign === '<') return order < 0
  if (sign === '^') return order >= 0 && version[0] === bound[0]
  if (sign === '~') return order >= 0 && compared(version, bound.slice(0, 2)) === 0
  return order === 0
}

/** Compares only the given parts of the bound: 20.19.0 equals 20. */
function compared(version: readonly number[], bound: number[]): number {
  const at = bound.findIndex((part, index) => part !== (version[index] ?? 0))
  return at < 0 ? 0 : (version[at] ?? 0) - bound[at]!
}

if (import.meta.main) {
  const root = dirname(import.meta.dirname)
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock
  const { errors, notices } = lockProblems(lock)
  for (const sentence of notices) console.log(`For macOS: ${sentence}`)
  if (errors.length > 0) {
    errors.push('Choose versions that exist for linux x64 and arm64 and accept Node 20 (npm view <package>@<version>).')
  }
  const missing = notInstalled(lock, root)
  if (missing.length > 0) {
    const names = `${missing.slice(0, 5).join(', ')}${missing.length > 5 ? ` and ${missing.length - 5} more` : ''}`
    errors.push(`node_modules lacks packages that checks and tests need (${names}): run npm install.`)
  }
  for (const sentence of errors) console.error(sentence)
  if (errors.length > 0) process.exit(1)
}
