import { type ChildProcess, execFile, type StdioOptions, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { userInfo } from 'node:os'
import { promisify } from 'node:util'
import { OperatorError } from '../errors.ts'

/**
 * As whom PostgreSQL runs, because it refuses to run as root.
 * - self: as the user we are.
 * - namespace: as the user we are, who is called "nobody" in a user namespace of its own. All files stay ours, so the
 *   binaries may lie under a home that nobody else can enter.
 * - nobody: as the real user nobody, for root where user namespaces are forbidden (most containers).
 */
export type Identity = 'self' | 'namespace' | 'nobody'

const nobody = 65534
const unshare = ['unshare', '--user', `--map-user=${nobody}`, `--map-group=${nobody}`, '--'] as const

/** PostgreSQL gets no variable of ours: none can change it by accident (PGDATA, PGPORT, TZ), and it sees no secret. */
const environment = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' }

export async function chooseIdentity(): Promise<Identity> {
  const root = process.getuid?.() === 0
  if (!root && hasName()) return 'self'
  if (await canUnshare()) return 'namespace'
  if (root && process.platform === 'linux') return 'nobody'
  throw new OperatorError(
    root
      ? 'PostgreSQL does not run as root on this system. Start Tidings as an ordinary user, or set DATABASE_URL.'
      : `The user id ${process.getuid?.()} has no entry in /etc/passwd, which PostgreSQL needs. Add one, or set DATABASE_URL.`
  )
}

/** A container may run under a user id that has no name; initdb refuses that. */
function hasName(): boolean {
  try {
    userInfo()
    return true
  } catch {
    return false
  }
}

async function canUnshare(): Promise<boolean> {
  if (process.platform !== 'linux') return false
  const [file, ...args] = [...unshare, 'true']
  return promisify(execFile)(file!, args, { env: environment }).then(
    () => true,
    () => false
  )
}

/** The user that must own the folder of PostgreSQL and of its socket. */
export function ownerOf(identity: Identity): { uid: number; gid: number } {
  if (identity === 'nobody') return { uid: nobody, gid: nobody }
  return { uid: process.getuid!(), gid: process.getgid!() }
}

/**
 * Starts a program of PostgreSQL on the folder of its data, in a session of its own: a Ctrl-C in the terminal is for us,
 * who stop PostgreSQL when the last request is done.
 *
 * The user nobody may be unable to walk to the folder. The folder is therefore handed over as an open file, which the
 * program and its children reach as /proc/self/fd/3 whatever lies above it.
 */
export function spawnAs(
  identity: Identity,
  program: string,
  folder: string,
  args: readonly string[],
  output: [number | 'ignore' | 'pipe', number | 'ignore' | 'pipe']
): ChildProcess {
  const stdio: StdioOptions = ['ignore', ...output]
  const shared = { env: environment, detached: true, cwd: '/' }
  if (identity === 'self') return spawn(program, ['-D', folder, ...args], { ...shared, stdio })
  if (identity === 'namespace') {
    const [file, ...before] = unshare
    return spawn(file, [...before, program, '-D', folder, ...args], { ...shared, stdio })
  }
  const handle = openSync(folder, 'r')
  try {
    return spawn(program, ['-D', '/proc/self/fd/3', ...args], {
      ...shared,
      ...ownerOf(identity),
      stdio: [...stdio, handle]
    })
  } finally {
    closeSync(handle)
  }
}
