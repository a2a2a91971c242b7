import { spawn } from 'node:child_process'

/**
 * Interrupts a process when this one ends in whatever way, a `kill -9` included: the kernel then closes our end of the
 * pipe, and the shell that reads from it does the rest. This needs nothing but a shell, which initdb needs as well, so
 * it is the same on every system and for every user.
 */
export function endWithUs(pid: number, ended: Promise<unknown>): void {
  const watch = spawn('/bin/sh', ['-c', 'read -r line || kill -INT "$1"', 'sh', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // A Ctrl-C in the terminal must not end the watch.
    detached: true,
    cwd: '/',
    env: {}
  })
  watch.on('error', () => {})
  watch.stdin.on('error', () => {})
  watch.unref()
  // The process id may go to somebody else from now on.
  void ended.then(() => watch.stdin.end('done\n'))
}
