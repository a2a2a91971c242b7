import { createPrivateKey } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { ApnsCredential } from '../../../src/gateways/credentials/credential.ts'
import { signJwt } from '../../../src/gateways/credentials/jwt.ts'
import { startChild } from '../children.ts'
import { temporaryFolder } from '../program.ts'

/** A push as it reached the gateway. */
export interface Arrival {
  at: number
  title: string
  token: string
  collapseId: string
  /** The topic of the node that sent it: each has its own. */
  node: string
  status: number
}

/**
 * A simulated APNs in a separate process, behind a link that can be cut. The link is in that process too: in the process of
 * the test every response would wait for the load and its checks, and be lost with a node that is killed meanwhile.
 */
export async function startGateway(t: TestContext, latencyMs: number) {
  const file = join(await temporaryFolder(t), 'arrivals')
  writeFileSync(file, '')
  const program = join(import.meta.dirname, 'gateway-process.ts')
  const child = startChild(t, process.execPath, [program, file, String(latencyMs)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc']
  })
  const [line] = await once(child.stdout!.setEncoding('utf8'), 'data')
  // The address is that of the link.
  const credential = JSON.parse(line) as ApnsCredential
  const claims = { iss: credential.teamId, iat: Math.floor(Date.now() / 1000) }
  const token = signJwt('ES256', createPrivateKey(credential.privateKey), { kid: credential.keyId }, claims)
  return {
    cut: () => void child.send('cut'),
    mend: () => void child.send('mend'),
    /** Settings of test/support/gateway-node.ts for a node whose pushes arrive under this name. */
    settingsOf(node: string) {
      return { GATEWAY: JSON.stringify({ ...credential, topic: node }), TOKEN: token }
    },
    arrivals: (): Arrival[] =>
      readFileSync(file, 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((text) => JSON.parse(text))
  }
}

/** Messages that arrived more than once, by collapse id and device token. */
export const repeated = (arrivals: Arrival[]): Arrival[][] =>
  [...Map.groupBy(arrivals, ({ collapseId, token }) => `${collapseId} ${token}`).values()].filter(
    ({ length }) => length > 1
  )
