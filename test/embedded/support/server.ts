// A Tidings that consists only of its PostgreSQL, as a separate process: `node server.ts <data folder> [identity]`. It
// reports events as lines of JSON, and stops after a line on its input.
import { createInterface } from 'node:readline'
import { startEmbedded, startEmbeddedAs } from '../../../src/platform/db/embedded/embedded.ts'
import type { Identity } from '../../../src/platform/db/embedded/identity.ts'

const [dataDir, identity] = process.argv.slice(2)
const tell = (event: Record<string, unknown>) => process.stdout.write(`${JSON.stringify(event)}\n`)
const options = { dataDir: dataDir!, say: (said: string) => tell({ said }) }

try {
  const server = identity ? await startEmbeddedAs(identity as Identity, options) : await startEmbedded(options)
  tell({ url: server.url })
  createInterface(process.stdin).once('line', async () => {
    await server.stop()
    process.exit(0)
  })
} catch (error) {
  const { name, message } = error as Error
  tell({ error: name, message })
  process.exitCode = 1
}
