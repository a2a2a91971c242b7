// The first minute of a newcomer, from a clean clone: `npm install && npm start`, the curl of the greeting, and the push on a
// phone of the device lab in Chromium. Everything counts, the installation too:
//   node bench/first-minute.ts [--rounds 1] [--cold-cache]
// npm takes packages from its cache where it has them, as on a machine that has installed Tidings before; --cold-cache gives
// it an empty one, and then the network counts.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import { report } from './support/figures.ts'
import { median } from './support/load.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '1' }, 'cold-cache': { type: 'boolean', default: false } }
})
const root = resolve(import.meta.dirname, '..')
const port = 18_439
const goalSeconds = 60

interface Minute {
  installed: number
  ready: number
  seen: number
}

/** The PATH without the programs of this checkout: `npm run` puts its Node first, and npm reads its settings beside Node. */
const pathOfNewcomer = () =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.endsWith(join('node_modules', '.bin')))
    .join(delimiter)

/** Seconds from the first key to each step. */
async function firstMinute(): Promise<Minute> {
  const folder = mkdtempSync(join(tmpdir(), 'tidings-first-minute-'))
  const clone = join(folder, 'tidings')
  execFileSync('git', ['clone', '--quiet', '--depth', '1', `file://${root}`, clone])
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox']
  })
  let service: ChildProcess | undefined
  try {
    const began = performance.now()
    const passed = () => (performance.now() - began) / 1000
    const env = { PATH: pathOfNewcomer(), HOME: process.env.HOME, PORT: String(port) }
    const cache = values['cold-cache'] ? ['--cache', join(folder, 'cache')] : []
    execFileSync('npm', ['install', ...cache], { cwd: clone, env, stdio: 'ignore' })
    const installed = passed()

    service = spawn('npm', ['start'], { cwd: clone, env, stdio: ['ignore', 'pipe', 'ignore'] })
    const { link, push } = await greetingOf(service)
    const ready = passed()

    const page = await browser.newPage()
    await page.goto(link)
    await page.getByRole('button', { name: 'Skip for now' }).click({ timeout: 120_000 })
    await page.getByRole('link', { name: 'Device lab' }).first().click()
    const phone = page.getByRole('region', { name: 'Lock screen of iPhone of demo-user' })
    await phone.waitFor({ timeout: 30_000 })
    execFileSync('bash', ['-c', push], { stdio: 'ignore' })
    await phone.getByText('It works').waitFor({ timeout: 30_000 })
    return { installed, ready, seen: passed() }
  } finally {
    await browser.close()
    if (service && service.exitCode === null) {
      const exited = once(service, 'exit')
      service.kill('SIGTERM')
      await exited
    }
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The link and the command of the greeting. */
async function greetingOf(service: ChildProcess): Promise<{ link: string; push: string }> {
  let printed = ''
  service.stdout!.on('data', (chunk) => {
    printed += chunk
  })
  for (;;) {
    const [, link] = /Console +(\S+)\s/.exec(printed) ?? []
    const [push] = /^curl .*messages:send.*$(?=\n)/m.exec(printed) ?? []
    if (link && push) return { link, push }
    if (service.exitCode !== null) throw new Error(`it ended before its greeting:\n${printed}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const minutes: Minute[] = []
for (let round = 0; round < Number(values.rounds); round += 1) {
  const minute = await firstMinute()
  minutes.push(minute)
  const [installed, ready, seen] = Object.values(minute).map((seconds) => seconds.toFixed(1))
  console.log(`installed after ${installed} s, ready after ${ready} s, the push on the phone after ${seen} s`)
}
const of = (step: keyof Minute) => median(minutes.map((minute) => minute[step]))
report({ name: 'npm install from a clean clone', value: of('installed'), unit: 's', better: 'less' })
report({
  name: 'install, start and first push on a phone',
  value: of('seen'),
  unit: 's',
  better: 'less',
  goal: goalSeconds
})
if (of('seen') > goalSeconds) process.exitCode = 1
