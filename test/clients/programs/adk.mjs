import { ClientFactory, JsonRpcTransportFactory } from '@a2a-js/sdk/client'
import { InMemoryRunner, RemoteA2AAgent } from '@google/adk'
import { all, keyed } from './keyed.mjs'

export async function connect({ url, key }) {
  const clientFactory = new ClientFactory({ transports: [new JsonRpcTransportFactory({ fetchImpl: keyed(key) })] })
  const agent = new RemoteA2AAgent({ name: 'tidings', agentCard: url, clientFactory })
  const runner = new InMemoryRunner({ agent, appName: 'walk' })
  const session = await runner.sessionService.createSession({ appName: 'walk', userId: 'u' })
  return {
    card: await (await fetch(`${url}/.well-known/agent-card.json`)).json(),
    say: (text) =>
      all(runner.runAsync({ userId: 'u', sessionId: session.id, newMessage: { role: 'user', parts: [{ text }] } }))
  }
}
