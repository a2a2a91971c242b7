import { access, constants, readFile, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { bytes } from '../output.ts'
import { type Finding, fail, ok, warn } from './check.ts'

const needed = 200e6
const comfortable = 1e9

/** Checks whether the data folder can be used or created, without creating it. */
export async function checkDataFolder(dataDir: string): Promise<Finding[]> {
  const name = 'Data folder'
  const found = await stat(dataDir).catch(() => undefined)
  if (found && !found.isDirectory()) return [fail(name, `${dataDir} is not a folder. Set DATA_DIR to a folder.`)]
  const standing = found ? dataDir : await nearest(dirname(dataDir))
  const writable = await access(standing, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false
  )
  if (!writable) {
    const message = `${standing} is not writable for this user. Change its owner, or set DATA_DIR to another folder.`
    return [fail(name, message)]
  }
  const state = found ? ok(name, `${dataDir} is writable`) : ok(name, `${dataDir} is created at the first start`)
  return [state, await checkSpace(standing)]
}

async function nearest(folder: string): Promise<string> {
  if (dirname(folder) === folder || (await stat(folder).catch(() => undefined))) return folder
  return nearest(dirname(folder))
}

async function checkSpace(folder: string): Promise<Finding> {
  const name = 'Disk space'
  const { bavail, bsize } = await statfs(folder)
  const free = `${bytes(bavail * bsize)} free at ${folder}`
  if (bavail * bsize < needed) return fail(name, `${free}. Free some space, or set DATA_DIR to a larger disk.`)
  return bavail * bsize < comfortable ? warn(name, `${free}. Free some space soon.`) : ok(name, free)
}

/** Checks the file by which commands find the service. It contains keys. */
export async function checkCredentials(
  dataDir: string
): Promise<{ finding: Finding; exists: boolean; baseUrl?: string; adminToken?: string }> {
  const name = 'Credentials'
  const file = join(dataDir, 'credentials.json')
  const found = await stat(file).catch(() => undefined)
  if (!found)
    return {
      finding: warn(name, `${file} does not exist yet. The first \`tidings serve\` writes it.`),
      exists: false
    }
  let baseUrl: string | undefined
  let adminToken: string | undefined
  try {
    const { base_url, local_url, admin_token } = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>
    if (typeof admin_token === 'string') adminToken = admin_token
    const address = local_url ?? base_url
    if (typeof address === 'string' && URL.canParse(address)) baseUrl = address
  } catch (error) {
    const message = `${file} cannot be read: ${(error as Error).message}. Repair or remove it.`
    return { finding: fail(name, message), exists: true }
  }
  const finding =
    (found.mode & 0o077) === 0
      ? ok(name, file)
      : warn(name, `${file} contains keys, and other users can read it. Run: chmod 600 ${file}`)
  return { finding, exists: true, ...(baseUrl && { baseUrl }), ...(adminToken && { adminToken }) }
}
