import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface Measured {
  perSecond: number
  p99Ms: number
  /** Of the measured process, or of it and all below it, user and system together. */
  cpuMicrosPerRequest: number
  failed: number
}

export interface Started {
  child: ChildProcess
  url: string
}

/** Starts a program that prints "is ready at <url>". */
export async function start(command: string, args: string[], env: Record<string, string> = {}): Promise<Started> {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
  process.on('exit', () => child.kill('SIGKILL'))
  const url = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout!.on('data', (chunk) => {
      text += chunk
      const found = /is ready at (\S+)/.exec(text)?.[1]
      if (found) resolve(found)
    })
    child.on('exit', (code) => reject(new Error(`${command} ${args.join(' ')} ended with ${code}`)))
  })
  return { child, url }
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await exited
}

/** The parent of a process and its CPU time so far, in microseconds. */
function statOf(pid: number): { parent: number; micros: number } {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(') ') + 2).split(' ')
  return { parent: Number(fields[1]), micros: (Number(fields[11]) + Number(fields[12])) * 10_000 }
}

/** CPU time so far of all processes below one, such as its embedded PostgreSQL. Processes that have ended are not counted. */
export function microsBelow(pid: number): number {
  const children = new Map<number, { pid: number; micros: number }[]>()
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const { parent, micros } = statOf(Number(name))
      children.set(parent, [...(children.get(parent) ?? []), { pid: Number(name), micros }])
    } catch {} // It ended meanwhile.
  }
  const below = (parent: number): number =>
    (children.get(parent) ?? []).reduce((sum, child) => sum + child.micros + below(child.pid), 0)
  return below(pid)
}

/** CPU time so far of a process and all below it, with those that have ended and that it has waited for. */
export function microsOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(') ') + 2).split(' ')
  const ticks = [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0)
  return ticks * 10_000 + microsBelow(pid)
}

export interface Load {
  url: string
  path: string
  method?: string
  headers: Record<string, string>
  /** Lua expression of the body; `n` is a number drawn from `users`. */
  body: string
  users: number
  connections: number
  seconds: number
  /** Whether the CPU time of processes below the measured one counts too. */
  below?: boolean
}

/** Drives wrk, a light load client in C, with a body that changes at every request. */
export async function wrk(pid: number, load: Load, script: string): Promise<Measured> {
  writeFileSync(
    script,
    `wrk.method = '${load.method ?? 'POST'}'
${Object.entries(load.headers)
  .map(([name, value]) => `wrk.headers['${name}'] = '${value}'`)
  .join('\n')}
local seeded = false
request = function()
  if not seeded then math.randomseed(os.time() + tonumber(tostring({}):match('0x(%x+)'), 16) % 100000) seeded = true end
  local n = math.random(1, ${load.users})
  return wrk.format(nil, nil, nil, ${load.body})
end
done = function(summary, latency)
  io.write(string.format('RESULT %d %d %f %d\\n', summary.requests, summary.duration, latency:percentile(99) / 1000,
    summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
`
  )
  const spent = () => statOf(pid).micros + (load.below ? microsBelow(pid) : 0)
  const before = spent()
  const { stdout } = await run('wrk', [
    '-t1',
    `-c${load.connections}`,
    `-d${load.seconds}s`,
    '-s',
    script,
    load.url + load.path
  ])
  const cpu = spent() - before
  const [, requests, micros, p99, failed] = /RESULT (\d+) (\d+) ([\d.]+) (\d+)/.exec(stdout)!
  return {
    perSecond: (Number(requests) / Number(micros)) * 1e6,
    p99Ms: Number(p99),
    cpuMicrosPerRequest: cpu / Number(requests),
    failed: Number(failed)
  }
}

export const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

/** The ratio round by round, since the speed of a machine changes over minutes. */
export const times = (ours: Measured[], theirs: Measured[]): number =>
  median(ours.map(({ perSecond }, round) => perSecond / theirs[round]!.perSecond))
