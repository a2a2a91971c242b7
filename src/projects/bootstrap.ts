import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../platform/config/config.ts'
import type { Db } from '../platform/db/db.ts'
import { addSetting, getSetting } from '../platform/db/store.ts'
import { OperatorError } from '../platform/errors.ts'
import { makeFolders } from '../platform/folders.ts'
import type { ProjectId } from '../platform/ids.ts'
import { bootstrapName, newCredential } from './keys.ts'
import type { Projects } from './projects.ts'

/** The content of DATA_DIR/credentials.json: enough for the CLI and for a new operator. */
export interface Credentials {
  base_url?: string
  /** If PUBLIC_URL is set: the address on this machine, because a proxy may not forward /manage/v1. */
  local_url?: string
  project_id?: string
  secret_key?: string
  public_key?: string
  admin_token?: string
}

export interface Bootstrapped {
  credentials: Credentials
  /** Whether this start made the project and its keys. */
  first: boolean
  /** Credentials from settings. The operator has them already, so a start does not print them. */
  named: Credentials
  /** Whether the demo project exists in simulator mode. */
  demo: boolean
}

const marker = 'bootstrapped'
const actor = 'bootstrap'
/** Shorter keys can be guessed; they are allowed for test setups. */
const shortest = 24

/**
 * Runs at every start, under the migration lock, and only ever adds. The first start makes the credentials that
 * settings do not name: the file is written before the database, so that a crash between the two cannot lose keys that
 * already work. `furnish` adds a user and devices to the demo project.
 */
export async function bootstrap(
  config: Config,
  db: Db,
  projects: Projects,
  say: (line: string) => void,
  furnish: (projectId: ProjectId) => Promise<void> = async () => {}
): Promise<Bootstrapped> {
  const first = (await getSetting(db, marker)) === undefined
  const named: Credentials = {
    ...(config.BOOTSTRAP_PROJECT_ID && { project_id: config.BOOTSTRAP_PROJECT_ID }),
    ...(config.BOOTSTRAP_SECRET_KEY && { secret_key: config.BOOTSTRAP_SECRET_KEY }),
    ...(config.BOOTSTRAP_PUBLIC_KEY && { public_key: config.BOOTSTRAP_PUBLIC_KEY }),
    ...(config.BOOTSTRAP_ADMIN_TOKEN && { admin_token: config.BOOTSTRAP_ADMIN_TOKEN })
  }
  warnAboutWeak(named, say)
  const kept = keptFor(named.project_id, await readCredentials(config.DATA_DIR))
  const credentials: Credentials = { ...(first && madeUp()), ...kept, ...named }
  if (first || Object.keys(named).length > 0) {
    const madeSome = Object.keys(credentials).some((name) => !(name in named))
    if (first && madeSome) await writeCredentials(config.DATA_DIR, credentials)
    await ensure(projects, first ? credentials : named, credentials.project_id ?? madeUpId, say)
    // A project that settings name has users of its own.
    if (first && named.project_id === undefined) await furnish(credentials.project_id as ProjectId)
    await addSetting(db, marker, new Date().toISOString())
  }
  const made = named.project_id === undefined && credentials.project_id === madeUpId
  return { credentials, first, named, demo: made && (await projects.find(madeUpId))?.mode === 'simulator' }
}

/** Keys in the file that belong to another project do not open this one. */
function keptFor(projectId: string | undefined, kept: Credentials): Credentials {
  if (projectId === undefined || kept.project_id === undefined || kept.project_id === projectId) return kept
  return { ...(kept.admin_token && { admin_token: kept.admin_token }) }
}

const madeUpId = 'demo' as ProjectId

const madeUp = (): Credentials => ({
  project_id: madeUpId,
  secret_key: newCredential('secret'),
  public_key: newCredential('public'),
  admin_token: newCredential('token')
})

function warnAboutWeak(named: Credentials, say: (line: string) => void): void {
  for (const [name, value] of Object.entries(named)) {
    if (name !== 'project_id' && value.length < shortest)
      say(`Warning: BOOTSTRAP_${name.toUpperCase()} is short and could be guessed.`)
  }
  if (named.admin_token && !named.admin_token.startsWith('svc_at_'))
    say('Warning: BOOTSTRAP_ADMIN_TOKEN does not start with svc_at_.')
}

async function ensure(projects: Projects, wanted: Credentials, id: string, say: (line: string) => void): Promise<void> {
  const projectId = id as ProjectId
  const needsProject =
    wanted.project_id !== undefined || wanted.secret_key !== undefined || wanted.public_key !== undefined
  if (needsProject && (await ensureProject(projects, projectId, say)))
    await ensureKeys(projects, wanted, projectId, say)
  if (wanted.admin_token && !(await projects.findToken(wanted.admin_token))) {
    await projects.createToken(actor, null, 'admin', bootstrapName, wanted.admin_token)
  }
}

/** Returns false while the project is being erased. The start continues, because only a running node erases. */
async function ensureProject(projects: Projects, projectId: ProjectId, say: (line: string) => void): Promise<boolean> {
  if (await projects.find(projectId)) return true
  if (await projects.isBeingErased(projectId)) {
    say(
      `Warning: the project ${projectId} was deleted and is still being erased, so this start makes neither it nor its keys. ` +
        'A start after the erasure makes them; to prevent that, remove BOOTSTRAP_PROJECT_ID and the settings of its keys.'
    )
    return false
  }
  const name = projectId === madeUpId ? 'Demo' : projectId
  await projects.create(actor, { id: projectId, name, mode: 'simulator' }).catch((error: Error) => {
    throw new OperatorError(
      `The project ${projectId} cannot be made: ${error.message} Try again in a moment, or name another.`
    )
  })
  return true
}

async function ensureKeys(
  projects: Projects,
  wanted: Credentials,
  projectId: ProjectId,
  say: (line: string) => void
): Promise<void> {
  for (const kind of ['secret', 'public'] as const) {
    const text = wanted[`${kind}_key`]
    if (text === undefined) continue
    const known = await projects.findKey(text)
    if (!known) await projects.createKey(actor, projectId, kind, bootstrapName, { text })
    else if (known.project_id !== projectId || known.kind !== kind) {
      throw new OperatorError(
        `BOOTSTRAP_${kind.toUpperCase()}_KEY is already a ${known.kind} key of the project ${known.project_id}. Choose another key.`,
        78
      )
    } else if (known.left_ms !== null && known.left_ms <= 0) {
      // A restart must not undo a rotation, so the key does not become valid again.
      const setting = `BOOTSTRAP_${kind.toUpperCase()}_KEY`
      say(`Warning: ${setting} has expired, so requests with it are refused. Set it to the key that replaced it.`)
    }
  }
}

const fileIn = (dataDir: string) => join(dataDir, 'credentials.json')

export async function readCredentials(dataDir: string): Promise<Credentials> {
  try {
    return JSON.parse(await readFile(fileIn(dataDir), 'utf8')) as Credentials
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return {}
    throw new OperatorError(`${fileIn(dataDir)} cannot be read: ${(error as Error).message}. Mend or remove it.`)
  }
}

/** Written completely or not at all: a reader never sees half a file, and the keys survive a crash. */
export async function writeCredentials(dataDir: string, credentials: Credentials): Promise<void> {
  const file = fileIn(dataDir)
  try {
    await makeFolders(dataDir)
    await writeFile(`${file}.new`, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flush: true })
    await rename(`${file}.new`, file)
  } catch (error) {
    throw new OperatorError(
      `${file} cannot be written: ${(error as Error).message}. Make DATA_DIR a folder that this user may write to.`
    )
  }
}
