import type { PackageLock } from './packages.ts'
import { located } from './sbom.ts'

/** The packages that the given sources import, those that these need, and the given others; as paths in the lock. */
export function runtimePackages(lock: PackageLock, sources: string[], others: string[]): string[] {
  const own = lock.packages['']!.dependencies ?? {}
  const found = new Set<string>()
  const visit = (path: string): void => {
    if (found.has(path)) return
    found.add(path)
    for (const name of Object.keys(lock.packages[path]!.dependencies ?? {})) {
      const next = located(lock, path, name)
      if (next !== undefined) visit(next)
    }
  }
  for (const name of Object.keys(own)) {
    const bare = new RegExp(`(?:\\bfrom\\s*|\\bimport\\s*\\(?\\s*)['"]${name}(?:/[^'"]*)?['"]`)
    if (sources.some((text) => bare.test(text))) visit(`node_modules/${name}`)
  }
  for (const name of others) visit(`node_modules/${name}`)
  return [...found].sort()
}
