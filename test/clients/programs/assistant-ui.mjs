import { A2AClient } from '@assistant-ui/react-a2a'

export async function connect({ url, key }) {
  const client = new A2AClient({ baseUrl: url, headers: { 'X-API-Key': key } })
  return {
    card: await client.getAgentCard(),
    say: (text) => client.sendMessage({ messageId: crypto.randomUUID(), role: 'user', parts: [{ text }] })
  }
}
