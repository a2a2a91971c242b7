import { A2AAgent } from 'beeai-framework/adapters/a2a/agents/agent'
import { UnconstrainedMemory } from 'beeai-framework/memory/unconstrainedMemory'
import { keyEverything } from './keyed.mjs'

export async function connect({ url, key }) {
  keyEverything(key)
  const agent = new A2AAgent({ url, memory: new UnconstrainedMemory() })
  await agent.checkAgentExists()
  return {
    card: agent.agentCard,
    async say(input) {
      const updates = []
      const { result } = await agent
        .run({ input })
        .observe((emitter) => emitter.on('update', ({ value }) => void updates.push(value)))
      return { result: result.text, updates }
    }
  }
}
