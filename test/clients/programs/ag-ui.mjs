import { A2AClient } from '@a2a-js/sdk/client'
import { A2AAgent } from '@ag-ui/a2a'
import { keyEverything } from './keyed.mjs'

export async function connect({ url, key }) {
  keyEverything(key)
  // The client of this version takes the address alone, and looks for the card at /.well-known/agent.json.
  const a2aClient = new A2AClient(url)
  const agent = new A2AAgent({ a2aClient, threadId: crypto.randomUUID() })
  return {
    card: await a2aClient.getAgentCard(),
    async say(text) {
      agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: text })
      const events = []
      await agent.runAgent({}, { onEvent: ({ event }) => void events.push(event) })
      return events
    }
  }
}
