// Checks the lock, the packages, the types and the style: `npm run check`. Two checks run at a time: the compiler uses one
// processor ("checkers" in tsconfig.json), because several checkers would each infer the same types again.
import { spawn } from 'node:child_process'

const checks = [
  'node scripts/lock.ts',
  'node scripts/packages.ts',
  'tsc',
  'tsc -p src/console/page',
  'tsc -p tsconfig.page.json',
  'tsc -p tsconfig.worker.json',
  'tsc -p tsconfig.client.json',
  'biome check --error-on-warnings .'
]
const color = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}

/** Runs a check, and shows what it says when it has ended, so that two never mix. */
function passes(command: string): Promise<boolean> {
  const [program, ...given] = command.split(' ')
  // biome-ignore lint/style/noProcessEnv: npm has put the programs of node_modules into the PATH
  const child = spawn(program!, given, { env: { ...color, ...process.env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const said: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => said.push(part))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      console.log(`> ${command}`)
      process.stdout.write(Buffer.concat(said))
      resolve(code === 0)
    })
  })
}

const failed: string[] = []
async function lane(): Promise<void> {
  for (let next = checks.shift(); next !== undefined; next = checks.shift())
    if (!(await passes(next))) failed.push(next)
}
await Promise.all([lane(), lane()])
if (failed.length > 0) console.error(`Failed: ${failed.join(', ')}`)
process.exitCode = failed.length > 0 ? 1 : 0
