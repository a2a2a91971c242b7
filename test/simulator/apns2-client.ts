// Pushes twice with apns2 and prints the results. Started by apns2.test.ts.
import { ApnsClient, Notification } from 'apns2'

const { origin, ...credentials } = JSON.parse(process.argv[2]!)
const client = new ApnsClient({ ...credentials, defaultTopic: 'com.example.app' })
// The library knows port 443 only: the test makes the same pool with the same settings, at another address.
const Pool = client.client.constructor as new (origin: string, options: object) => typeof client.client
Object.assign(client, { client: new Pool(origin, { connections: 1, pipelining: 1, allowH2: true }) })

async function push(token: string): Promise<string> {
  try {
    await client.send(new Notification(token, { alert: { title: 'From', body: 'afar' } }))
    return 'accepted'
  } catch (error) {
    return String((error as { reason?: string }).reason ?? error)
  }
}

console.log(JSON.stringify([await push('ab'.repeat(32)), await push('sim-410-1')]))
process.exit(0)
