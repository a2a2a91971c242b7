import { A2AAgent } from '@mastra/core/a2a'

export async function connect({ url, key }, protocolVersion = '0.3') {
  const headers = { 'X-API-Key': key }
  const agent = new A2AAgent({ url, protocolVersion, headers })
  let waiting
  return {
    card: await agent.getAgentCard(),
    async say(text) {
      const result = waiting ? await agent.resumeGenerate(text, { runId: waiting }) : await agent.generate(text)
      waiting =
        result.resumePayload || result.suspendPayload || result.finishReason === 'suspended' ? result.runId : undefined
      return { text: result.text, task: result.task, suspended: waiting !== undefined, reason: result.finishReason }
    }
  }
}
