import { setTimeout as sleep } from 'node:timers/promises'
import type { ConsoleState } from '../../console/console.ts'
import type { Log } from '../../platform/log.ts'
import type { NodeRole } from '../../platform/nodes/nodes.ts'

/** The first requests go before the hash over the sources of the console. */
const pauseMs = 50

/**
 * The console of a process, and the function that builds it after the start, which does not wait for it. It counts as being
 * loaded from the beginning: a page that stayed open over a restart asks for files as soon as the service listens.
 */
export function newConsole(role: NodeRole) {
  const state: ConsoleState = { waiting: 'The console is being built, only this time. It opens by itself…' }
  if (role === 'worker') return { state, fill() {} }
  const { promise, resolve } = Promise.withResolvers<void>()
  state.loading = promise
  return { state, fill: (dataDir: string, log: Log) => void fill(state, dataDir, log).finally(resolve) }
}

async function fill(state: ConsoleState, dataDir: string, log: Log): Promise<void> {
  await sleep(pauseMs)
  const { builtConsole, readFiles } = await import('../../console/console.ts')
  try {
    state.files = await readFiles(await builtConsole(dataDir))
  } catch (error) {
    const { message, cause } = error as Error
    log.error(message)
    if (cause) log.debug({ cause: String((cause as Error).message ?? cause) }, 'the console was not built')
    state.waiting = `${message} The API works without it.`
  }
}
