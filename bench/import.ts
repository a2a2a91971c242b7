// Users with two devices each from a CSV file, by `tidings import csv` over HTTP into a service with the embedded database:
//   node bench/import.ts [users…]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { report } from './support/figures.ts'
import { microsBelow, start, stop } from './support/load.ts'
import { cpuMs, mostMegabytes } from './support/usage.ts'

const sizes = process.argv.slice(2).map(Number).filter(Boolean)
const root = resolve(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'tidings-bench-'))
const env = { DATA_DIR: join(folder, 'data'), PORT: '18438', LOG_LEVEL: 'error' }
const tidings = join(root, 'bin/tidings.js')

/** Writes lines as an export of a shop has them: a line for each device, the lines of a user together. */
async function writeTable(file: string, users: number, from: number): Promise<void> {
  const out = createWriteStream(file)
  out.write('user_id,name,plan,age:number,push_token,platform,model,app_version,locale,timezone,last_active\n')
  const token = (n: number) => `${'a1b2c3d4e5f6'.repeat(4)}${n.toString(16).padStart(16, '0')}`
  for (let n = from; n < from + users; n += 1) {
    const user = `customer-${n},Ana Sofia ${n},${n % 3 === 0 ? 'premium' : 'free'},${18 + (n % 60)}`
    const facts = `4.${n % 20}.1,pt-BR,America/Sao_Paulo,2026-0${1 + (n % 9)}-11T10:00:00Z`
    const google = `d${n}:APA91b${token(n * 7).repeat(2)}`
    const text = `${user},${token(n)},ios,iPhone 15,${facts}\n${user},${google},android,Pixel 8,${facts}\n`
    if (!out.write(text)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'finish')
}

const service = await start(process.execPath, [tidings, 'serve'], env)
const points: [number, number][] = []
let [seconds, from, most] = [0, 0, 0]
for (const users of sizes.length > 0 ? sizes : [20_000]) {
  const file = join(folder, `${users}.csv`)
  await writeTable(file, users, from)
  from += users
  const pid = service.child.pid!
  const before = { service: cpuMs(pid), database: microsBelow(pid) / 1000 }
  const began = performance.now()
  const child = spawn(process.execPath, [tidings, 'import', 'csv', file], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit']
  })
  const usage = { cpu: 0, memory: 0 }
  const watch = setInterval(() => {
    try {
      Object.assign(usage, { cpu: cpuMs(child.pid!), memory: mostMegabytes(child.pid!) })
    } catch {} // It has just ended.
  }, 200)
  const [code] = await once(child, 'exit')
  clearInterval(watch)
  if (code !== 0) throw new Error(`the import ended with ${code}`)
  seconds = (performance.now() - began) / 1000
  most = users
  const cpu = { service: cpuMs(pid) - before.service, database: microsBelow(pid) / 1000 - before.database }
  points.push([users, (seconds * 1e6) / users])
  const each = (ms: number) => `${Math.round((ms * 1000) / users)} µs`
  console.log(
    `${users.toLocaleString('en')} users, ${(2 * users).toLocaleString('en')} tokens: ${seconds.toFixed(1)} s; CPU for a user: ` +
      `service ${each(cpu.service)}, database ${each(cpu.database)}, command ${each(usage.cpu)}; ${Math.round(usage.memory)} MB in the command`
  )
}
report({
  name: 'Import of 1,000,000 users with 2,000,000 push tokens from CSV',
  value: most === 1_000_000 ? seconds : (seconds * 1_000_000) / most,
  unit: 's',
  better: 'less',
  goal: 600,
  growth: { of: 'users', unit: 'µs', points },
  ...(most < 1_000_000 && { note: `extrapolated from ${most.toLocaleString('en')} users` })
})
await stop(service.child)
rmSync(folder, { recursive: true, force: true })
