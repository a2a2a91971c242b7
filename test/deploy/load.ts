import { httpsAsk, type Installation } from './installation.ts'

const clientsPerProxy = 4

/** Clients of both proxies that write and read until they are stopped. */
export function clients(made: Installation) {
  let stopped = false
  let asked = 0
  const failures: string[] = []
  const acknowledged: string[] = []

  async function one(proxy: keyof Installation['urls'], client: number): Promise<void> {
    for (let turn = 0; !stopped; turn += 1) {
      const id = `${proxy}-${client}-${turn}`
      const writes = turn % 2 === 0
      const path = writes ? '/api/v1/users' : '/api/v1/health'
      const method = writes ? 'POST' : 'GET'
      asked += 1
      try {
        const reply = await httpsAsk(made.urls[proxy], method, path, {
          headers: made.keys,
          ...(writes && { json: { project_user_id: id, properties: { turn } } })
        })
        if (reply.status >= 300) failures.push(`${proxy}: ${method} ${reply.status} ${reply.text.slice(0, 200)}`)
        else if (writes) acknowledged.push(id)
      } catch (error) {
        failures.push(`${proxy}: ${method} ${(error as Error).message}`)
      }
    }
  }

  const running = Object.keys(made.urls).flatMap((proxy) =>
    Array.from({ length: clientsPerProxy }, (_, client) => one(proxy as keyof Installation['urls'], client))
  )
  return {
    async stop() {
      stopped = true
      await Promise.all(running)
      return { asked, failures, acknowledged }
    }
  }
}
