import { runCli } from './cli/program.ts'

const argv = process.argv.slice(2)
const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<NodeJS.Signals>()

// A reader that has seen enough (`tidings user list | head`) is no fault; the service lives on without one.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  if (argv[0] !== 'serve') process.exit(0)
})

const code = await runCli(argv, {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  onInterrupt(stop) {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt)
    void interrupted.then(stop)
  }
})
// What was written to a pipe may still be on its way.
await new Promise((resolve) => process.stdout.write('', resolve))
process.exit(code)
