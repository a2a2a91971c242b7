import { setTimeout as sleep } from 'node:timers/promises'
import { version } from '../../platform/version.ts'
import { interrupted } from '../client.ts'
import { exit, Failure } from '../exit.ts'
import { asFailure, unreachable } from '../refusals.ts'
import type { Batch } from './batches.ts'

export interface Service {
  url: string
  project: string
  key: string
}

export interface Stored {
  users: number
  devices: number
  errors: { index: number; path: string; error: string; code: string }[]
}

/** The response of the service. */
interface Said extends Pick<Stored, 'errors'> {
  stored_users: number
  stored_devices: number
}

const responseMs = 110_000
/** A service that restarts is back within this time. */
const patienceMs = 120_000
const longestWaitMs = 15_000

/** Sends batches to the service. Each can be repeated, so a request whose response was lost is sent again. */
export function sendsTo({ url, project, key }: Service, interrupt: AbortSignal) {
  const headers = {
    'content-type': 'application/json',
    'user-agent': `tidings-cli/${version}`,
    'x-service-project-id': project,
    'x-service-api-key': key
  }

  async function once(body: string): Promise<Response | Failure> {
    const signal = AbortSignal.any([interrupt, AbortSignal.timeout(responseMs)])
    try {
      const response = await fetch(`${url}/api/v1/users:import`, {
        method: 'POST',
        headers,
        body,
        redirect: 'manual',
        signal
      })
      if (response.ok) return response
      const failure = await asFailure(url, response)
      if (response.status === 401)
        throw new Failure(
          exit.denied,
          failure.code,
          `${url} does not accept the key for the project ${project}. Check --key and --project, or TIDINGS_KEY and TIDINGS_PROJECT.`
        )
      if (![429, 502, 503, 504].includes(response.status)) throw failure
      const seconds = Number(response.headers.get('retry-after'))
      return Object.assign(failure, { waitMs: seconds > 0 ? seconds * 1000 : undefined })
    } catch (error) {
      if (error instanceof Failure) throw error
      if (interrupt.aborted) throw interrupted()
      return unreachable(url, error)
    }
  }

  return async ({ entries }: Batch): Promise<Stored> => {
    const body = JSON.stringify({ users: entries.map((entry) => entry.body) })
    const giveUpMs = Date.now() + patienceMs
    for (let attempt = 0; ; attempt += 1) {
      const response = await once(body)
      if (!(response instanceof Failure)) {
        const said = (await response.json().catch(() => undefined)) as Said | undefined
        if (said !== undefined) return { users: said.stored_users, devices: said.stored_devices, errors: said.errors }
      } else if (Date.now() > giveUpMs) throw response
      const asked = response instanceof Failure ? (response as { waitMs?: number }).waitMs : undefined
      await sleep(Math.min(longestWaitMs, asked ?? 250 * 2 ** attempt), undefined, { signal: interrupt }).catch(() => {
        throw interrupted()
      })
    }
  }
}
