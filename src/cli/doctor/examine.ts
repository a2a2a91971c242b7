import { type Config, readConfig } from '../../platform/config/config.ts'
import { OperatorError } from '../../platform/errors.ts'
import { version } from '../../platform/version.ts'
import { checkArchive } from './archive.ts'
import { type Finding, fail, ok } from './check.ts'
import { type CheckedDatabase, checkDatabase } from './database.ts'
import { checkEmbedded } from './embedded.ts'
import { checkCredentials, checkDataFolder } from './folder.ts'
import { checkMasterKey } from './master-key.ts'
import { checkPort } from './port.ts'
import { checkProjects } from './projects.ts'

const nodeWanted = 24

/** Runs all checks, in the order of a start. */
export async function examine(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const first = [ok('Tidings', version), checkNode()]
  let config: Config
  try {
    config = readConfig(env)
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    return [...first, fail('Settings', `${error.message.replace(/\s*\n\s*/g, ' ')}. See docs/reference/config.md.`)]
  }
  const { DATA_DIR, ARCHIVE_DIR, DATABASE_URL, MASTER_KEY, HOST, PORT } = config
  const folder = await checkDataFolder(DATA_DIR)
  const credentials = await checkCredentials(DATA_DIR)
  const embedded = DATABASE_URL ? undefined : await checkEmbedded(DATA_DIR)
  const database: CheckedDatabase = embedded ?? (await checkDatabase({ ...config, DATABASE_URL: DATABASE_URL! }))
  if (!DATABASE_URL && ARCHIVE_DIR) database.findings.push(await checkArchive(DATA_DIR, ARCHIVE_DIR))
  // Without its database the service of this folder does not run. What responds at the address of a copied
  // credentials.json is the installation of the copy.
  const isStopped = embedded?.state === 'stopped'
  const { baseUrl, adminToken }: Partial<typeof credentials> = isStopped ? {} : credentials
  const { sealedCheck } = database
  const key = await checkMasterKey(MASTER_KEY, DATA_DIR, {
    sealedCheck,
    isStopped,
    hasStarted: credentials.exists
  })
  // Of a folder that no service has started on yet, none can be at the port either.
  const isIdle = (isStopped && !embedded?.isHeld) || (embedded?.state === 'new' && !credentials.exists)
  const port = await checkPort(HOST, PORT, baseUrl, isIdle ? DATA_DIR : undefined)
  const known = database.findings.some(({ name }) => name === 'Installation')
  const projects = (await checkProjects(baseUrl, adminToken)).filter(({ name }) => !(known && name === 'Installation'))
  return [
    ...first,
    ok('Settings', 'valid'),
    ...folder,
    credentials.finding,
    ...database.findings,
    key,
    ...port,
    ...projects
  ]
}

function checkNode(): Finding {
  const { node } = process.versions
  if (Number.parseInt(node, 10) >= nodeWanted) return ok('Node.js', `${node} (${process.execPath})`)
  return fail('Node.js', `${node} is too old. Install Node.js ${nodeWanted} or newer.`)
}
