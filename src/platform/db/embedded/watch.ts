import { spawn } from 'node:child_process'
import { join } from 'node:path'

/** How long a PostgreSQL whose Tidings was killed waits for the next one on its data folder. */
const graceSeconds = 3

const environment = { PATH: '/usr/local/bin:/usr/bin:/bin' }
const atOnce = 'read -r line || kill -INT "$1"'
// Does nothing if another Tidings holds the folder by now, or if that PostgreSQL has ended: its process id may be
// reused.
const afterGrace = `read -r line || {
  sleep ${graceSeconds}
  read -r holder < "$2"; read -r postmaster < "$3"
  [ "$holder" = "$4" ] && [ "$postmaster" = "$1" ] && kill -INT "$1"
}`

/**
 * Interrupts a process when this one ends for any reason, including `kill -9`: the kernel then closes our end of the
 * pipe, and the shell that reads from it sends the signal. This needs only a shell, which initdb needs as well, so it
 * works the same on every system and for every user. A PostgreSQL (`cluster`) stays for a moment, for the next Tidings.
 */
export function endWithUs(pid: number, ended: Promise<unknown>, cluster?: { dataDir: string; folder: string }): void {
  const files = cluster ? [join(cluster.dataDir, 'tidings.pid'), join(cluster.folder, 'postmaster.pid')] : []
  const words = ['sh', String(pid), ...files, String(process.pid)]
  const watch = spawn('/bin/sh', ['-c', cluster ? afterGrace : atOnce, ...words], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // A Ctrl-C in the terminal must not end the watch.
    detached: true,
    cwd: '/',
    env: environment
  })
  watch.on('error', () => {})
  watch.stdin.on('error', () => {})
  watch.unref()
  // The process id may be reused from now on.
  void ended.then(() => watch.stdin.end('done\n'))
}
