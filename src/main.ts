import { exit } from './cli/exit.ts'
import { runCli } from './cli/program.ts'

const argv = process.argv.slice(2)
/** One Ctrl-C may arrive twice, from the terminal and from the parent process: only a later one stops at once. */
const repeatMs = 2_000

// A pipe that its reader closed (`tidings user list | head`) is no error, unless a backup goes through it; the service runs on
// without one.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (argv[0] === 'serve') return
  if (error.code === 'EPIPE' && argv[0] !== 'backup') process.exit(exit.ok)
  const why = error.code === 'EPIPE' ? 'its reader closed the pipe' : error.message
  process.stderr.write(`The output was not written completely: ${why}.\n`)
  process.exit(exit.failure)
})

const code = await runCli(argv, {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  onInterrupt(stop) {
    let askedAtMs = 0
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (askedAtMs > 0 && Date.now() - askedAtMs > repeatMs) process.exit(exit.interrupted)
        askedAtMs ||= Date.now()
        stop()
      })
    }
  }
})
// Output to a pipe may still be in flight.
await new Promise((resolve) => process.stdout.write('', resolve))
process.exit(code)
