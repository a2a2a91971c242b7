import type { Db, Pool } from '../../platform/db/db.ts'
import { notify } from '../../platform/db/store.ts'
import { Refusal, Unavailable } from '../../platform/errors.ts'
import { newId, type ProjectId } from '../../platform/ids.ts'
import { opensSecrets, seal } from '../../platform/secrets/secrets.ts'
import { steadyMs } from '../../platform/time.ts'
import { recordAudit } from '../../projects/projects.ts'
import type { GatewayName } from '../push.ts'
import type { WebPushSecret } from '../webpush/credential.ts'
import type { Credential } from './credential.ts'
import { openCredential, openSecret } from './open.ts'
import { parseCredential } from './parse.ts'
import * as store from './store.ts'

/** A stored credential without its secret. */
export type CredentialFacts = Omit<store.CredentialRow, 'secret'>
export interface CheckResult {
  ok: boolean
  message: string
}
export type Check = (credential: Credential) => Promise<CheckResult>
export type Checked = CredentialFacts & CheckResult

/** The most entries of a project: more than any project has apps, and few enough for one list. */
const mostCredentials = 100
/** Apple treats quick connections as an attack, so a check that is repeated at once returns the previous result. */
const checkBelievedMs = 5_000
const mostChecks = 1_000
/** Shorter than the time limit of a request (100 s): later checks are reported as not made. */
const checkLimitMs = 60_000
const notAsked: CheckResult = { ok: false, message: 'Not asked: the checks before it took too long. Try again.' }

export type GatewayCredentials = ReturnType<typeof createGatewayCredentials>

export function createGatewayCredentials({
  pool,
  key,
  check,
  changed
}: {
  pool: Pool
  key: Buffer
  check: Check
  /** Called after a change, so that this process does not wait for the notification of the database. */
  changed: (projectId: ProjectId) => void
}) {
  const checks = new Map<string, { result: Promise<CheckResult>; untilMs: number }>()

  async function change<Result>(projectId: ProjectId, work: (tx: Db) => Promise<Result>): Promise<Result> {
    const result = await pool.transaction(async (tx) => {
      if (!(await store.lockProject(tx, projectId))) throw new Refusal('not_found', 'There is no such project.')
      const done = await work(tx)
      await tx.run(notify, [store.changedChannel, projectId])
      return done
    })
    changed(projectId)
    return result
  }

  function checkOnce(projectId: ProjectId, row: store.CredentialRow): Promise<CheckResult> {
    const name = `${row.id}/${row.version}`
    const known = checks.get(name)
    if (known && known.untilMs > steadyMs()) return known.result
    const result = Promise.resolve()
      .then(() => check(openCredential(key, projectId, row)))
      .catch((error: Error) => ({ ok: false, message: `The check failed: ${error.message}` }))
    if (checks.size >= mostChecks) checks.clear()
    checks.set(name, { result, untilMs: steadyMs() + checkBelievedMs })
    return result
  }

  return {
    async list(projectId: ProjectId, gateway?: GatewayName): Promise<CredentialFacts[]> {
      const rows = await store.listCredentials(pool, projectId)
      return rows.filter((row) => gateway === undefined || row.gateway === gateway).map(withoutSecret)
    },

    /** The key that browsers subscribe with; null if Web Push is not set up. */
    async webPushKey(projectId: ProjectId): Promise<string | null> {
      const rows = await store.listCredentials(pool, projectId)
      return rows.find(({ gateway }) => gateway === 'webpush')?.facts.public_key ?? null
    },

    /** Saves a credential and returns it as one entry or, for both environments of Apple, as two. */
    async save(actor: string, projectId: ProjectId, gateway: GatewayName, body: Record<string, unknown>) {
      return change(projectId, async (tx) => {
        // A secret sealed with an earlier master key could not be opened after the change of the key.
        if ((await opensSecrets(tx, key)) === false)
          throw new Unavailable('The master key was changed: this process has to be started again with the new one.')
        const known = await store.listCredentials(tx, projectId)
        const inUse = known.find((row) => row.gateway === 'webpush')
        const pair = inUse && gateway === 'webpush' ? openSecret(key, projectId, inUse) : undefined
        const entries = parseCredential(
          gateway,
          body,
          pair === undefined ? undefined : (JSON.parse(pair) as WebPushSecret)
        )
        const saved: CredentialFacts[] = []
        for (const { environment, app, secret, facts } of entries) {
          const place = { gateway, environment, app }
          const row = await store.saveCredential(tx, projectId, {
            ...place,
            id: newId(),
            secret: seal(key, store.contextOf(projectId, place), JSON.stringify(secret)),
            facts,
            updated_at: new Date(),
            updated_by: actor
          })
          saved.push(withoutSecret(row!))
          const details = { ...facts, version: row!.version }
          await recordAudit(tx, projectId, { actor, action: 'gateway.set', target: nameOf(place), details })
        }
        if ((await store.listCredentials(tx, projectId)).length > mostCredentials)
          throw new Refusal('conflict', `A project has at most ${mostCredentials} gateway credentials.`)
        return saved
      })
    },

    async remove(
      actor: string,
      projectId: ProjectId,
      gateway: GatewayName,
      { environment, topic }: { environment?: string | undefined; topic?: string | undefined }
    ): Promise<void> {
      await change(projectId, async (tx) => {
        const gone = await store.removeCredentials(tx, projectId, gateway, environment, topic)
        if (gone.length === 0) throw new Refusal('not_found', `The project has no such credential for ${gateway}.`)
        for (const { facts, ...place } of gone) {
          const target = nameOf({ gateway, ...place })
          await recordAudit(tx, projectId, { actor, action: 'gateway.remove', target, details: facts })
        }
      })
    },

    /** Asks the gateway about each stored credential, also if the project is simulated. */
    async check(projectId: ProjectId, gateway: GatewayName): Promise<Checked[]> {
      const rows = (await store.listCredentials(pool, projectId)).filter((row) => row.gateway === gateway)
      if (rows.length === 0)
        throw new Refusal('not_found', `The project has no credential for ${gateway}. Save one first.`)
      const results: Checked[] = []
      const giveUpAt = performance.now() + checkLimitMs
      // Checks run one after the other, because most of them ask the same host with the same key.
      for (const row of rows) {
        const result = performance.now() > giveUpAt ? notAsked : await checkOnce(projectId, row)
        results.push({ ...withoutSecret(row), ...result })
      }
      return results
    }
  }
}

const withoutSecret = ({ secret: _, ...facts }: store.CredentialRow): CredentialFacts => facts

const nameOf = ({ gateway, environment, app }: Pick<CredentialFacts, 'gateway' | 'environment' | 'app'>) =>
  [gateway, environment, app].filter(Boolean).join('/')
