import { hash } from 'node:crypto'
import type { TriggerCampaign } from '../../campaigns/campaigns.ts'
import type { Db, Pool } from '../../platform/db/db.ts'
import { findClaims, type IdempotencyKey } from '../../platform/idempotency/idempotency.ts'
import { isUuid, newId, type ProjectId } from '../../platform/ids.ts'
import { recurring } from '../../platform/jobs/definition.ts'
import { type ApiCaller, listRetentions } from '../../projects/projects.ts'
import type { Facts, FactsOf } from '../facts/facts.ts'
import { approvalAsked, claimApproval } from './approval.ts'
import { type Figures, isSame, whyChanged } from './binding.ts'
import * as store from './store.ts'

/** The outcome of a yes that names a confirmation. */
export type Redeemed =
  /**
   * The command may be carried out, with this key: triggers accepted with it are one trigger. `repeated`: there is one
   * already, and it is returned again.
   */
  | { kind: 'confirmed'; command: Shown; key: IdempotencyKey; repeated: boolean; facts?: Facts }
  /** What was shown is no longer so. Ask again, with the facts if they are known. `isVoid`: the id confirms nothing more. */
  | { kind: 'again'; command: TriggerCampaign; reason: string; isVoid?: true; facts?: Facts }
  /** An earlier yes asked for an approval: this one is part of the same task. */
  | { kind: 'asked'; taskId: string; reason: string }
  /** The id confirms nothing: this caller was asked nothing under it, or its approval was not given. */
  | { kind: 'unknown'; reason: string }

/** A command for the version that was shown. */
type Shown = TriggerCampaign & { campaignVersion: number }

/** The caller, as far as a confirmation is bound to it. */
export type Asked = Pick<ApiCaller, 'actor'>

const lifeMs = 15 * 60_000
const hourMs = 3_600_000
const noConfirmation =
  'This confirmationId is not known, or was used up by another question. Ask for a preview of the campaign again.'

export interface ConfirmationsOptions {
  pool: Pool
  factsOf: FactsOf
  idempotencyHours: number
  /** For tests. */
  now?: () => number
}

export type Confirmations = ReturnType<typeof createConfirmations>

/** The key of all triggers that a confirmation leads to: the first is accepted, and every repeat returns it. */
export const keyOfConfirmation = (id: string): IdempotencyKey => ({
  scope: 'confirmation',
  key: id.toLowerCase(),
  fingerprint: hash('sha256', id.toLowerCase(), 'hex')
})

/** Keeps what callers were shown, and judges whether their yes still stands for it. */
export function createConfirmations({ pool, factsOf, idempotencyHours, now = Date.now }: ConfirmationsOptions) {
  async function redeem(
    projectId: ProjectId,
    { actor }: Asked,
    id: string,
    command?: TriggerCampaign
  ): Promise<Redeemed> {
    const row = isUuid(id) ? await store.findConfirmation(pool, projectId, id, actor) : undefined
    if (!row)
      return command ? { kind: 'again', command, reason: noConfirmation } : { kind: 'unknown', reason: noConfirmation }
    const wanted = command ?? row.command
    const { campaignVersion: version = row.campaign_version } = wanted
    if (!isSame(wanted, row.command) || version !== row.campaign_version)
      return {
        kind: 'again',
        command: wanted,
        reason: 'The confirmationId belongs to a question about something else.'
      }
    const key = keyOfConfirmation(id)
    const confirmed = {
      kind: 'confirmed',
      command: { ...row.command, campaignVersion: row.campaign_version },
      key
    } as const
    const stateOf = async () => (await findClaims(pool, projectId, [key])).get(key.key)?.state
    const doneBefore = async (state: string | undefined): Promise<Redeemed | undefined> =>
      state === 'answered' ? { ...confirmed, repeated: true } : approvalAsked(pool, projectId, key)
    const state = await stateOf()
    const before = await doneBefore(state)
    if (before) return before
    const again = async (reason: string, facts?: Facts): Promise<Redeemed> => {
      // The new question has an id of its own, and the answer to it is the only yes that counts.
      await store.deleteConfirmation(pool, projectId, id, actor)
      return { kind: 'again', command: wanted, reason, isVoid: true, ...(facts && { facts }) }
    }
    // The task of an earlier yes was canceled before its trigger was accepted.
    if (state === 'other') return again('What this confirmationId stood for was canceled.')
    if (row.expires_at.getTime() <= now()) return again('The question was asked more than 15 minutes ago.')
    const facts = await factsOf(projectId, row.command)
    const { campaign_version: campaignVersion, complete } = row
    const changed = whyChanged({ campaignVersion, recipients: Number(row.recipients), complete }, facts)
    if (changed === undefined) return { ...confirmed, repeated: false, facts }
    // Counting takes seconds: another yes may have been carried out, or asked for an approval, meanwhile.
    return (await doneBefore(await stateOf())) ?? again(changed, facts)
  }

  return {
    /** Notes what the caller is shown. The id lasts 15 minutes and stands for this command and these figures alone. */
    async issue(projectId: ProjectId, { actor }: Asked, command: TriggerCampaign, facts: Figures): Promise<string> {
      const id = newId()
      const { campaignVersion: _, ...bound } = command
      await store.insertConfirmation(pool, projectId, id, actor, {
        command: bound,
        campaign_version: facts.campaignVersion,
        recipients: facts.recipients,
        complete: facts.complete,
        expires_at: new Date(now() + lifeMs)
      })
      return id
    },

    /**
     * Judges a yes. Without a `command` it stands for the one that was shown. Accept the trigger with the returned key:
     * two yeses at once, and one that is repeated after a crash, lead to one trigger.
     */
    redeem,

    /**
     * Notes, in the transaction that writes an approval, that the confirmation asked for it. Throws `AskedMeanwhile` where
     * it has asked for another one. It is remembered for longer than the confirmation itself.
     */
    claimApproval: (tx: Db, projectId: ProjectId, id: string, taskId: string): Promise<void> =>
      claimApproval(tx, projectId, keyOfConfirmation(id), { taskId }, idempotencyHours + 1),

    /** After a no: the id confirms nothing any more. False if this caller was asked nothing under it. */
    revoke: async (projectId: ProjectId, { actor }: Asked, id: string): Promise<boolean> =>
      isUuid(id) && (await store.deleteConfirmation(pool, projectId, id, actor)) > 0,

    /** A repeated yes finds its trigger as long as other idempotency keys are remembered. */
    keepJob: recurring({
      name: 'oversight.keep',
      everyMs: hourMs,
      async run({ signal }) {
        const before = new Date(now() - idempotencyHours * hourMs)
        for (const { projectId } of await listRetentions(pool))
          while ((await store.sweepConfirmations(pool, projectId, before)) > 0) signal.throwIfAborted()
      }
    }),

    eraseWindow: store.eraseConfirmationWindow
  }
}
