// Time from `npm start` to the first 200 of /readyz, cold (empty data folder) and warm, and the memory of everything when idle:
//   node bench/start.ts [--rounds 5]
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { report } from './support/figures.ts'
import { median } from './support/load.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } })
const rounds = Number(values.rounds)
const root = resolve(import.meta.dirname, '..')
const port = 18_437

async function startOnce(dataDir: string): Promise<{ readyMs: number; memoryMb: number }> {
  const began = performance.now()
  const npm = spawn('npm', ['start'], {
    cwd: root,
    stdio: 'ignore',
    env: { ...process.env, DATA_DIR: dataDir, PORT: String(port) }
  })
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
    if (ready?.status === 200) break
    if (performance.now() - began > 60_000) throw new Error('it was not ready within 60 s')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const readyMs = performance.now() - began
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  const memoryMb = proportionalMemory(dataDir)
  const exited = new Promise((resolve) => npm.once('exit', resolve))
  npm.kill('SIGTERM')
  await exited
  return { readyMs, memoryMb }
}

/**
 * Shared pages counted once: PSS of every process that was given this data folder, npm itself apart. PostgreSQL writes its
 * title over its environment, but works in the folder.
 */
function proportionalMemory(dataDir: string): number {
  let kilobytes = 0
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      const given = readFileSync(`/proc/${pid}/environ`, 'utf8').includes(dataDir)
      const within = readlinkSync(`/proc/${pid}/cwd`).startsWith(dataDir)
      if (!(given || within) || command.includes('npm')) continue
      kilobytes += Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))![1])
    } catch {} // It ended while we looked.
  }
  return kilobytes / 1024
}

const cold: number[] = []
const warm: number[] = []
const memory: number[] = []
const dataDirs: string[] = []
for (let round = 0; round < rounds; round += 1) {
  const dataDir = mkdtempSync(join(tmpdir(), 'tidings-bench-'))
  cold.push((await startOnce(dataDir)).readyMs)
  const again = await startOnce(dataDir)
  warm.push(again.readyMs)
  memory.push(again.memoryMb)
  dataDirs.push(dataDir)
}
// At the end: for seconds after 1,600 files were deleted, ext4 takes half a second longer to create as many.
for (const dataDir of dataDirs) rmSync(dataDir, { recursive: true, force: true })
const show = (times: number[]) =>
  `median ${median(times).toFixed(0)} ms of ${times.map((time) => time.toFixed(0)).join(', ')}`
console.log(`npm start to the first 200 of /readyz\n  cold: ${show(cold)}\n  warm: ${show(warm)}`)
console.log(`memory of all processes, idle: median ${median(memory).toFixed(0)} MB (proportional set size)`)
report({ name: 'start with an empty data folder', value: median(cold), unit: 'ms', better: 'less', goal: 1_500 })
report({ name: 'start with existing data', value: median(warm), unit: 'ms', better: 'less', goal: 600 })
report({ name: 'memory of all processes, idle', value: median(memory), unit: 'MB', better: 'less', goal: 110 })
