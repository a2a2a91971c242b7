import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client'
import { A2AAgent } from '@strands-agents/sdk/a2a'
import { keyed } from './keyed.mjs'

export async function connect({ url, key }) {
  const fetchImpl = keyed(key)
  const clientFactory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl })
  })
  const agent = new A2AAgent({ url, clientFactory })
  return {
    card: await (await fetch(`${url}/.well-known/agent-card.json`)).json(),
    say: async (text) => (await agent.invoke(text)).toString()
  }
}
