import { setTimeout as sleep } from 'node:timers/promises'
import type { ConsoleState } from '../../console/console.ts'
import type { Log } from '../../platform/log.ts'

export const newConsole = (): ConsoleState => ({
  waiting: 'The console is being built, only this time. It opens by itself…'
})

/** The first requests go before the hash over the sources of the console. */
const pauseMs = 50

/** Builds the console after the start, which does not wait for it. */
export function fillConsole(state: ConsoleState, dataDir: string, log: Log): void {
  state.loading = fill(state, dataDir, log)
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
