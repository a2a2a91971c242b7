// Counts the statements of a process by name: `node --import ./bench/support/statements.ts …`. At SIGUSR2 it prints them to
// stderr and begins again.
import pg from 'pg'

const counts = new Map<string, number>()
const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  const [asked] = args as [string | { name?: string; text?: string }]
  const name = typeof asked === 'string' ? asked.slice(0, 20) : (asked.name ?? 'unnamed')
  counts.set(name, (counts.get(name) ?? 0) + 1)
  return query.apply(this, args)
} as typeof pg.Client.prototype.query

process.on('SIGUSR2', () => {
  for (const [name, count] of [...counts].toSorted(([, one], [, two]) => two - one))
    process.stderr.write(`${String(count).padStart(8)} ${name}\n`)
  counts.clear()
})
