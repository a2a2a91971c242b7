import { Agent, request } from 'node:http'
import type { TestProject, TestService } from '../support/service.ts'

interface Answered {
  status: number
  retryAfter: string | undefined
  text: string
}

function post(agent: Agent, url: string, { id, secretKey }: TestProject, user: string): Promise<Answered> {
  const body = JSON.stringify({ project_user_id: user, properties: { n: 1 } })
  const headers = {
    'x-service-project-id': id,
    'x-service-api-key': secretKey,
    'content-type': 'application/json',
    'content-length': body.length
  }
  return new Promise((resolve, reject) => {
    const outgoing = request(`${url}/api/v1/users`, { method: 'POST', agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () =>
        resolve({ status: response.statusCode!, retryAfter: response.headers['retry-after'], text })
      )
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** The number of refusals that one connection gets in this time if it repeats at once. */
export async function refusedBy(service: TestService, project: TestProject, ms: number): Promise<Answered[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const until = performance.now() + ms
  const refused: Answered[] = []
  while (performance.now() < until) {
    const answered = await post(agent, service.url, project, 'ana')
    if (answered.status !== 200) refused.push(answered)
  }
  agent.destroy()
  return refused
}

/**
 * Floods the service by 500 connections of one project while another sends a request from time to time, until something
 * was shed.
 */
export async function askTimes(service: TestService, noisy: TestProject, quiet: TestProject) {
  const agent = new Agent({ keepAlive: true, maxSockets: 500 })
  const own = new Agent({ keepAlive: true, maxSockets: 1 })
  const statuses = new Map<number, number>()
  const quietStatuses: number[] = []
  let sample: { retryAfter: string | undefined; json: unknown } | undefined
  const until = performance.now() + 20_000
  let flooding = true
  const floods = Array.from({ length: 500 }, async (_, lane) => {
    for (let turn = 0; flooding; turn += 1) {
      const { status, retryAfter, text } = await post(agent, service.url, noisy, `user-${lane}-${turn}`)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status === 503) sample ??= { retryAfter, json: JSON.parse(text) }
    }
  })
  while (performance.now() < until && (sample === undefined || quietStatuses.length < 5))
    quietStatuses.push((await post(own, service.url, quiet, 'quiet')).status)
  flooding = false
  await Promise.all(floods)
  agent.destroy()
  own.destroy()
  return { statuses, sample, quietStatuses }
}

export async function counterOf(service: TestService, name: string): Promise<number> {
  const { text } = await service.ask('GET', '/metrics')
  return Number(new RegExp(`^${name}(?:\\{\\})? (\\d+)$`, 'm').exec(text)?.[1])
}
