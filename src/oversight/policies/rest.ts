import { type CheckedTrigger, commandOfTrigger } from '../../campaigns/campaigns.ts'
import type { AdmitSend } from '../../messages/messages.ts'
import { Refusal, type RefusalCode } from '../../platform/errors.ts'
import { type ApiCaller, counted, type Permit, type Policy, reserveRecipients } from '../../projects/projects.ts'
import type { PermittedTrigger } from '../../triggers/triggers.ts'
import type { Figures } from '../confirmations/binding.ts'
import type { Confirmations } from '../confirmations/confirmations.ts'
import type { Gate } from './gate.ts'
import { allowedSkills, refused, refusedByHours } from './rules.ts'
import type { Effect, Verdict } from './verdict.ts'

/** A skill, with the routes of the REST API that do the same. */
export interface RoutedSkill {
  id: string
  effect: Effect
  rest: readonly string[]
}

const instead = {
  approval: 'Ask for it as an agent (A2A or MCP), which makes an approval.',
  confirmation: 'Preview it, and send the confirmation_id of the preview with the same request.'
}
const codes: Record<Exclude<Verdict['kind'], 'allowed' | 'refused'>, RefusalCode> = {
  approval: 'approval_required',
  confirmation: 'confirmation_required'
}
const limitsOfRecipients = ['max_recipients', 'max_recipients_per_day', 'approval_above', 'confirm_broadcasts'] as const
const rules = { approval: 'approval_above', confirmation: 'confirm_broadcasts' } as const

/** The refusal of a verdict, for surfaces that cannot wait. */
export function refusalOf(verdict: Exclude<Verdict, { kind: 'allowed' }>): Refusal {
  const { kind, reason } = verdict
  if (kind === 'refused')
    return new Refusal(verdict.code, reason, [{ path: `policy.${verdict.rule}`, message: reason }])
  const message = `${reason} ${instead[kind]}`
  return new Refusal(codes[kind], message, [{ path: `policy.${rules[kind]}`, message: reason }])
}

/** Judges requests to the REST API. A route is named as the docs name it: `POST /campaigns/{campaign_id}:trigger`. */
export function createRestGate(
  { gate, confirmations }: { gate: Gate; confirmations: Confirmations },
  skills: Iterable<RoutedSkill>
) {
  const skillsOf = new Map<string, RoutedSkill[]>()
  for (const skill of skills)
    for (const route of skill.rest) skillsOf.set(route, [...(skillsOf.get(route) ?? []), skill])

  async function permitTrigger(caller: ApiCaller, trigger: CheckedTrigger, id?: string): Promise<PermittedTrigger> {
    const command = commandOfTrigger(trigger)
    const action = { skill: 'trigger-campaign', effect: 'send', reach: { trigger: command } } as const
    if (id === undefined) return { trigger, permit: await permitOf(gate(caller, action)) }
    const found = await confirmations.redeem(caller.project.id, caller, id, command)
    if (found.kind !== 'confirmed') {
      const message = `${found.reason} Preview the campaign again.`
      throw new Refusal('confirmation_required', message, [{ path: 'confirmation_id', message: found.reason }])
    }
    const { key, repeated, facts } = found
    const permit = repeated ? 'repeat' : await permitOf(gate(caller, action, { confirmationId: id, facts }))
    return { trigger: { ...trigger, campaignVersion: found.command.campaignVersion }, permit, key }
  }

  return {
    /**
     * Throws where the policy does not allow the route. `skills` allows those that do the same as a skill of the list.
     */
    checkRoute(policy: Policy, route: string): void {
      const same = skillsOf.get(route) ?? []
      const listed = policy.skills
      if (listed && !same.some(({ id }) => listed.includes(id)))
        throw refusalOf(refused('skills', `The policy of this key does not allow ${route}. ${allowedSkills(listed)}`))
      const reads = route.startsWith('GET ') || same.some(({ effect }) => effect === 'read')
      if (policy.dry_run && !reads)
        throw refusalOf({
          kind: 'refused',
          code: 'dry_run_only',
          rule: 'dry_run',
          reason: 'This key is for dry runs: nothing was done. Reading and previews work.'
        })
    },

    /** The permit of a trigger. Undefined at once for a caller whose key has no policy. */
    permitTrigger(caller: ApiCaller, trigger: CheckedTrigger, confirmationId?: string) {
      return caller.key?.policy ? permitTrigger(caller, trigger, confirmationId) : undefined
    },

    /** The id of a preview, for a key whose policy wants broadcasts to be confirmed. */
    issueConfirmation(caller: ApiCaller, trigger: CheckedTrigger, shown: Figures): undefined | Promise<string> {
      if (!caller.key?.policy?.confirm_broadcasts) return undefined
      return confirmations.issue(caller.project.id, caller, commandOfTrigger(trigger), shown)
    },

    /**
     * Judges a change of a broadcast channel, which reaches everyone who listens: only Apple knows how many. A policy with a
     * limit on recipients therefore refuses it.
     */
    checkChannelChange({ key }: ApiCaller): void {
      const policy = key?.policy
      if (!policy) return
      const quiet = refusedByHours(policy, new Date())
      if (quiet) throw refusalOf(quiet)
      const rule = limitsOfRecipients.find((name) => policy[name] !== null && policy[name] !== false)
      if (rule === undefined) return
      const reason = `A channel reaches everyone who listens, whose number is not known, and the policy of the key has ${rule}.`
      throw refusalOf(refused(rule, reason))
    },

    /** Judges a direct send when its recipients are known. Undefined for a caller whose key has no policy. */
    admitSend({ key }: ApiCaller): AdmitSend | undefined {
      const policy = key?.policy
      if (!key || !policy) return undefined
      const { max_recipients: max, max_recipients_per_day: perDay, approval_above: above } = policy
      return async (tx, projectId, sendId, recipients, times) => {
        const quiet = times.map((at) => refusedByHours(policy, at)).find(Boolean)
        if (quiet) throw refusalOf(quiet)
        if (max !== null && recipients > max)
          throw refusalOf(
            refused(
              'max_recipients',
              `The request reaches ${counted(recipients, 'user')}, and the key may reach ${max} at once.`
            )
          )
        if (above !== null && recipients > above)
          throw refusalOf({
            kind: 'approval',
            reason: `The request reaches ${counted(recipients, 'user')}, and the policy of the key wants a person to approve more than ${above}.`,
            facts: { recipients, devices: 0, excluded: {}, sample: [], complete: true }
          })
        if (perDay === null) return
        const permit = { keyId: key.originId, recipients, most: recipients, perDay }
        await reserveRecipients(tx, projectId, sendId, permit, { ended: true, at: lastOf(times) })
      }
    }
  }
}

/** The recipients of a send count until a day after its last message. */
const lastOf = (times: Date[]): Date => new Date(Math.max(...times.map(Number)))

async function permitOf(verdict: Verdict | Promise<Verdict>): Promise<Permit | undefined> {
  const judged = await verdict
  if (judged.kind !== 'allowed') throw refusalOf(judged)
  return judged.permit
}

/** Counts the recipients of a direct send that the gate has allowed, in the transaction that writes it. */
export const admitWith = (permit: Permit | undefined): AdmitSend | undefined =>
  permit &&
  (async (tx, projectId, sendId, recipients) => {
    await reserveRecipients(tx, projectId, sendId, { ...permit, recipients, most: recipients }, { ended: true })
  })
