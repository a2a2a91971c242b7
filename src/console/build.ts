import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { access, constants, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { constants as os, setPriority } from 'node:os'
import { dirname, extname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { OperatorError } from '../platform/errors.ts'

const root = dirname(dirname(import.meta.dirname))
const page = join(import.meta.dirname, 'page')
/** A published package carries its built console here. */
const shipped = join(import.meta.dirname, 'built')
const cache = join(root, 'node_modules', '.cache', 'tidings-console')
const buildMs = 120_000
const hashed = new Set(['.ts', '.tsx', '.css', '.html', '.svg', '.json'])
const compressed = new Set(['.html', '.js', '.css', '.svg', '.json'])

/**
 * Returns the folder of the built console. A package contains it; a checkout builds it when its source has changed.
 * Throws an OperatorError, one sentence with its remedy, if the build fails.
 */
export async function builtConsole(dataDir: string): Promise<string> {
  try {
    return await foundOrBuilt(dataDir)
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw unbuilt(`${(error as Error).message}: mend that`, error)
  }
}

/** One sentence for the log, the page and the start of `npm test`. The output of Vite is its cause. */
const unbuilt = (reason: string, cause?: unknown) =>
  new OperatorError(`The console is not built, because ${reason}, then start again.`, 1, { cause })

async function foundOrBuilt(dataDir: string): Promise<string> {
  if (existsSync(join(shipped, 'index.html'))) return shipped
  const wanted = fingerprint()
  if (existsSync(join(cache, wanted, 'index.html'))) return join(cache, wanted)
  // A checkout of another owner may be read-only; the data folder is writable.
  const place = await mkdir(cache, { recursive: true })
    .then(() => access(cache, constants.W_OK))
    .then(
      () => cache,
      () => join(dataDir, 'console')
    )
  await mkdir(place, { recursive: true })
  const target = join(place, wanted)
  return underLock(join(place, 'lock'), async () => {
    if (!existsSync(join(target, 'index.html'))) await buildInto(place, target)
    return target
  })
}

/** Builds beside the target and renames the result, so that an interrupted build leaves no target behind. */
async function buildInto(place: string, target: string): Promise<void> {
  const temporary = await mkdtemp(join(place, 'building-'))
  try {
    await buildConsole(temporary)
    await rename(temporary, target)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
  for (const name of await readdir(place)) {
    if (/^[0-9a-f]{16}$/.test(name) && join(place, name) !== target) {
      await rm(join(place, name), { recursive: true, force: true })
    }
  }
}

/** Runs Vite in a process of low priority and compresses its output. */
async function buildConsole(outDir: string): Promise<void> {
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  if (!existsSync(vite)) throw unbuilt('this install lacks the packages that build it: run npm install')
  const child = spawn(
    process.execPath,
    [vite, 'build', page, '--outDir', outDir, '--emptyOutDir', '--logLevel', 'warn'],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: buildMs,
      killSignal: 'SIGKILL',
      env: { NODE_ENV: 'production' }
    }
  )
  if (child.pid) setPriority(child.pid, os.priority.PRIORITY_LOW)
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-2_000)
  })
  const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  if (code !== 0) throw unbuilt(failure(code, output), new Error(output))
  const files = globSync('**/*', { cwd: outDir }).filter((name) => compressed.has(extname(name)))
  for (const name of files) {
    const path = join(outDir, name)
    const body = await readFile(path)
    await writeFile(`${path}.br`, await promisify(brotliCompress)(body))
    await writeFile(`${path}.gz`, await promisify(gzip)(body, { level: 9 }))
  }
}

/** The reason and the remedy, from the last output of Vite. */
function failure(code: number | null, output: string): string {
  if (code === null) return `Vite did not finish within ${buildMs / 1_000} seconds: wait until the machine is less busy`
  if (/Cannot find module '(@rolldown\/binding-|\.\.\/lightningcss\.)/.test(output)) {
    const machine = `${process.platform}-${process.arch}`
    return `the bundler's native package for ${machine} is not installed: remove node_modules, run npm install`
  }
  return `Vite ended with ${code} (npm run build shows its whole output): run npm install`
}

/** A hash over every source file of the page, what its build adds, and the lock file. */
function fingerprint(): string {
  const hash = createHash('sha256')
  // Every start does this. A glob and promises took 100 ms of CPU, this takes 38.
  const files = readdirSync(page, { recursive: true, encoding: 'utf8' })
    .filter((name) => hashed.has(extname(name)))
    .sort()
  for (const name of files)
    hash
      .update(name)
      .update('\0')
      .update(readFileSync(join(page, name)))
  for (const file of [join(import.meta.dirname, 'used-styles.ts'), join(root, 'package-lock.json')])
    if (existsSync(file)) hash.update(readFileSync(file))
  return hash.digest('hex').slice(0, 16)
}

/** Runs one build at a time on a machine. A lock older than the longest build belongs to a process that has died. */
async function underLock<Result>(lock: string, work: () => Promise<Result>): Promise<Result> {
  const giveUpAt = Date.now() + 2 * buildMs
  for (;;) {
    try {
      await mkdir(lock)
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || Date.now() > giveUpAt) throw error
      const age =
        Date.now() -
        (await stat(lock)
          .then(({ mtimeMs }) => mtimeMs)
          .catch(() => Date.now()))
      if (age > buildMs) await rm(lock, { recursive: true, force: true })
      else await sleep(200)
    }
  }
  try {
    return await work()
  } finally {
    await rm(lock, { recursive: true, force: true })
  }
}
