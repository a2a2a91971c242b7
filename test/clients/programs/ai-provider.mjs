import { a2a } from 'a2a-ai-provider'
import { generateText } from 'ai'
import { keyEverything } from './keyed.mjs'

export async function connect({ url, key }) {
  keyEverything(key)
  const address = `${url}/.well-known/agent-card.json`
  const contextId = crypto.randomUUID()
  return {
    card: await (await fetch(address)).json(),
    async say(prompt) {
      const { text } = await generateText({ model: a2a(address), prompt, providerOptions: { a2a: { contextId } } })
      return text
    }
  }
}
