import { A2AClientManager } from '@google/gemini-cli-core/dist/src/agents/a2a-client-manager.js'
import { all } from './keyed.mjs'

export async function connect({ url, key }) {
  const manager = new A2AClientManager({ getProxy: () => undefined })
  const auth = { headers: async () => ({ 'X-API-Key': key }), shouldRetryWithHeaders: async () => undefined }
  const card = await manager.loadAgent('tidings', { type: 'url', url: `${url}/.well-known/agent-card.json` }, auth)
  // As its session of a remote agent does: the ids of the last response go with the next message.
  let state = {}
  return {
    card,
    async say(text) {
      const events = await all(manager.sendMessageStream('tidings', text, state))
      const { taskId = undefined, id = taskId, contextId, status } = events.at(-1)
      const open = status?.state === 'input-required' || status?.state === 'auth-required'
      state = { contextId, taskId: open ? id : undefined }
      return events
    }
  }
}
