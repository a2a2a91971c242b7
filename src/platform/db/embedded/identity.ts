import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { lchown, readdir, stat } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { OperatorError } from '../../errors.ts'

/**
 * The user that PostgreSQL runs as, because it refuses to run as root.
 * - self: the present user.
 * - namespace: the present user, who is called "nobody" in a separate user namespace. All files stay ours, so the
 *   binaries may lie in a home that no other user can enter.
 * - nobody: the real user nobody, for root if user namespaces are forbidden (most containers).
 */
export type Identity = 'self' | 'namespace' | 'nobody'

const nobody = 65534
const unshare = ['unshare', '--user', `--map-user=${nobody}`, `--map-group=${nobody}`, '--'] as const

/**
 * PostgreSQL gets none of our environment variables: none can change it by accident (PGDATA, PGPORT, TZ), and it sees
 * no secret.
 */
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
  // The user must also have a name in the namespace; otherwise initdb refuses to run.
  return process.platform === 'linux' && succeeds([...unshare, 'id', '-un'])
}

/** The user that must own the folder of PostgreSQL and of its socket. */
export function ownerOf(identity: Identity): { uid: number; gid: number } {
  if (identity === 'nobody') return { uid: nobody, gid: nobody }
  return { uid: process.getuid!(), gid: process.getgid!() }
}

type Output = number | 'ignore' | 'pipe'

/**
 * Starts a program of PostgreSQL on its data folder, in a separate session: a Ctrl-C in the terminal must reach only
 * this process, which stops PostgreSQL after the last request.  The identity may not be allowed to enter a parent of
 * the folder: a user other than root, or root in a namespace below another user's home. The folder is then passed as an
 * open file, which the program and its children open as /proc/self/fd/3.
 */
export function spawnAs(
  identity: Identity,
  program: string,
  folder: string,
  args: readonly string[],
  output: [Output, Output]
): ChildProcess {
  const options = { env: environment, detached: true, cwd: '/', ...(identity === 'nobody' && ownerOf(identity)) }
  if (identity === 'self') return spawn(program, ['-D', folder, ...args], { ...options, stdio: ['ignore', ...output] })
  const handle = openSync(folder, 'r')
  try {
    const [file, ...all] = [...wrapped(identity, program), '-D', '/proc/self/fd/3', ...args]
    return spawn(file!, all, { ...options, stdio: ['ignore', ...output, handle] })
  } finally {
    closeSync(handle)
  }
}

function wrapped(identity: Identity, program: string): string[] {
  return identity === 'namespace' ? [...unshare, program] : [program]
}

/**
 * Whether the program can be read and run, including its libraries: it may lie in a home that is closed to the
 * identity.
 */
export async function canRun(identity: Identity, program: string): Promise<boolean> {
  return succeeds([...wrapped(identity, program), '--version'], identity === 'nobody' ? ownerOf(identity) : {})
}

async function succeeds(command: string[], user: { uid?: number; gid?: number } = {}): Promise<boolean> {
  const [file, ...args] = command
  return promisify(execFile)(file!, args, { env: environment, cwd: '/', ...user }).then(
    () => true,
    () => false
  )
}

/** Gives a folder and its content to the user that PostgreSQL runs as, unless that user owns it. */
export async function giveTo(identity: Identity, folder: string): Promise<void> {
  const { uid, gid } = ownerOf(identity)
  if ((await stat(folder)).uid === uid) return
  for (const entry of await readdir(folder, { recursive: true })) await lchown(join(folder, entry), uid, gid)
  // The folder itself comes last, so that an interrupted change of owner is noticed and repeated.
  await lchown(folder, uid, gid)
}

/** Users whose files from an earlier start count as our own. */
export function trusted(identity: Identity): Set<number> {
  const self = process.getuid!()
  return new Set([self, ownerOf(identity).uid, ...(self === 0 ? [nobody] : [])])
}
