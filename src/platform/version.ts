import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** The version of this package, from the checkout or from the installed tarball. */
export const version: string = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version

/** The commit that this code was built from: from the build, or from the checkout. Undefined where neither names it. */
export function commitOf(folder: string = root): string | undefined {
  const built = read(join(folder, 'dist/commit'))
  // A checkout may have an older build beside the code that runs.
  const git = gitFolder(folder)
  return git === undefined ? built : headOf(git)
}

/** Read from its files, because a server has no git. */
function headOf(git: string): string | undefined {
  const head = read(join(git, 'HEAD'))
  const ref = head?.startsWith('ref: ') ? head.slice(5) : undefined
  if (ref === undefined) return head
  // A worktree has its own HEAD and shares the branches.
  const shared = resolve(git, read(join(git, 'commondir')) ?? '.')
  const packed = read(join(shared, 'packed-refs'))?.split('\n')
  return read(join(shared, ref)) ?? packed?.find((line) => line.endsWith(` ${ref}`))?.split(' ')[0]
}

function gitFolder(folder: string): string | undefined {
  const git = join(folder, '.git')
  if (read(join(git, 'HEAD'))) return git
  const link = read(git)?.replace(/^gitdir: /, '')
  return link && resolve(folder, link)
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined
  } catch {
    return undefined // It does not exist, or is a folder.
  }
}
