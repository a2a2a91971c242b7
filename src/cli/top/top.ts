import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { findConnection } from '../connection.ts'
import { Failure } from '../exit.ts'
import { examples, wholeNumber } from '../session.ts'
import { print, printJson, type Shell } from '../shell.ts'
import { figuresOf } from './figures.ts'
import { type Reading, readService } from './reading.ts'
import { screenOf } from './screen.ts'
import { openPipe, openScreen, type View } from './terminal.ts'

interface Options {
  url?: string
  metricsToken?: string
  interval: number
  once?: true
  json?: true
}

export function declare(command: Command, shell: Shell): void {
  command
    .option('--url <url>', 'Address of the service (default: TIDINGS_URL)')
    .option('--metrics-token <token>', 'METRICS_TOKEN of the service (default: the variable METRICS_TOKEN)')
    .addOption(
      new Option('--interval <seconds>', 'Seconds between two readings').argParser(wholeNumber(1, 3600)).default(2)
    )
    .option('--once', 'Print the figures of one interval and end')
    .option('--json', 'Print JSON: one document with --once, else one line for each interval')
  examples(
    command,
    ['tidings top', 'tidings top --once', "tidings top --once --json | jq '.jobs.ready'"],
    `It reads /metrics, which a service shows to its own machine, or to others with
METRICS_TOKEN. Rates are those of the interval. Jobs, triggers, approvals and
nodes are those of the whole installation, everything else is this node's. q or
Ctrl-C ends it. Without a terminal it prints one block for each interval.`
  )
  command.action((options: Options) => watch(shell, options))
}

async function watch(shell: Shell, options: Options): Promise<void> {
  const { interval, once = false, json = false } = options
  const token = options.metricsToken ?? (shell.env.METRICS_TOKEN || undefined)
  // Only the address is needed: metrics have a token of their own.
  const { url } = await findConnection({ ...options, token: 'none', project: 'none' }, shell.env)
  const stopped = new AbortController()
  const stop = () => stopped.abort()
  shell.onInterrupt(stop)
  const { signal } = stopped
  const read = () => readService(url, token, signal)
  const wait = () => sleep(interval * 1000, undefined, { signal }).catch(() => {})

  let before: Reading
  try {
    before = await read()
  } catch (error) {
    if (signal.aborted) return
    throw error
  }
  const view: View | undefined = json
    ? undefined
    : !once && shell.stdout.isTTY
      ? openScreen(shell, stop)
      : openPipe(shell)
  try {
    if (!once && shell.stdout.isTTY) view?.show([`Tidings at ${url}`, '', `The first figures come in ${interval} s.`])
    for (await wait(); !signal.aborted; await wait()) {
      const now = await read().catch((error: unknown) => lost(error, once || json))
      if (signal.aborted) return
      if (typeof now === 'string') {
        view?.show([`Tidings at ${url}`, '', now, 'It is tried again.'])
        continue
      }
      const figures = figuresOf(before, now)
      before = now
      if (view) view.show(screenOf(figures, url, new Date()))
      else if (once) printJson(shell, { at: new Date().toISOString(), ...figures })
      else print(shell, JSON.stringify({ at: new Date().toISOString(), ...figures }))
      if (once) return
    }
  } finally {
    view?.close()
  }
}

/** A service that is away for a while is shown; scripts are told at once. */
function lost(error: unknown, isFinal: boolean): string {
  if (isFinal || !(error instanceof Failure)) throw error
  return error.message
}
