import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'

export interface ConsoleFile {
  type: string
  body: Buffer
  /** The compressed body by content encoding. */
  encoded: { br?: Buffer; gzip?: Buffer }
  /** Whether its name contains a hash of its content. */
  hashed: boolean
}

export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>

const types = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
  ['.png', 'image/png'],
  ['.woff2', 'font/woff2'],
  ['.json', 'application/json; charset=utf-8']
])

/** Reads a built console into memory. It is small, and so the path of a request never reaches the file system. */
export async function readFiles(folder: string): Promise<ConsoleFiles> {
  const found = new Map<string, ConsoleFile>()
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  for (const path of paths) {
    const type = types.get(extname(path))
    if (!type) continue
    const name = relative(folder, path).split(sep).join('/')
    const [br, gzip] = await Promise.all([`${path}.br`, `${path}.gz`].map((each) => readFile(each).catch(() => null)))
    found.set(name, {
      type,
      body: await readFile(path),
      encoded: { ...(br && { br }), ...(gzip && { gzip }) },
      hashed: name.startsWith('assets/')
    })
  }
  if (!found.has('index.html')) throw new Error(`${folder} holds no console`)
  return found
}
