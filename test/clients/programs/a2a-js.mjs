import { A2ACardResolver, A2AClient } from 'a2a-js'
import { keyed } from './keyed.mjs'

export async function connect({ url, key }) {
  const card = await new A2ACardResolver(url, undefined, fetch).getAgentCard()
  const client = new A2AClient(card.url, keyed(key))
  return {
    card,
    say: (text) =>
      client.sendTask({ id: crypto.randomUUID(), message: { role: 'user', parts: [{ type: 'text', text }] } })
  }
}
