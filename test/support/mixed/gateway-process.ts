import { openSync, writeSync } from 'node:fs'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { apnsCredential } from '../../gateways/senders.ts'
import { openLink } from '../link.ts'
import type { Arrival } from './gateway.ts'

// A simulated APNs in a separate process, which writes each push into a file before it responds. Neither the nodes nor
// the test can lose or change what has arrived. Messages of the test cut its connections, and mend them.

const [file, latencyMs] = process.argv.slice(2) as [string, string]
const arrivals = openSync(file, 'a')
const simulator = await startSimulator({ ledgerSize: 1 })
simulator.faults.set('apns', { latencyMs: Number(latencyMs) })
simulator.ledger.subscribe(({ title, token, request, answer }) => {
  const { 'apns-topic': node, 'apns-collapse-id': collapseId } = request.headers
  const arrival: Arrival = {
    at: Date.now(),
    title: title ?? '',
    token: token ?? '',
    collapseId: String(collapseId),
    node: String(node),
    status: answer.status
  }
  writeSync(arrivals, `${JSON.stringify(arrival)}\n`)
})
const credential = apnsCredential(simulator)
const address = new URL(credential.origin)
const link = await openLink({ port: Number(address.port), host: address.hostname })
address.port = String(link.port)
process.on('message', (asked) => link.set({ cut: asked === 'cut' }))
process.stdout.write(`${JSON.stringify({ ...credential, origin: address.origin })}\n`)
process.on('SIGTERM', () => void simulator.close().then(() => process.exit(0)))
