import { quietUntil } from '../../campaigns/campaigns.ts'
import type { Policy } from '../../projects/projects.ts'
import type { Action, Refused } from './verdict.ts'

/** Rules of a policy that need no count of recipients. Undefined: the action may go on. */
export function refusedByRules(policy: Policy, { skill, effect }: Action, at: Date): Refused | undefined {
  if (policy.skills && !policy.skills.includes(skill))
    return refused(
      'skills',
      `The policy of this key does not allow the skill ${skill}. ${allowedSkills(policy.skills)}`
    )
  if (policy.dry_run && effect !== 'read') return dryRun
  return effect === 'send' ? refusedByHours(policy, at) : undefined
}

export function refusedByHours({ quiet_hours: hours }: Policy, at: Date): Refused | undefined {
  const until = hours && quietUntil({ ...hours, action: 'skip' }, {}, at)
  if (!until) return undefined
  return refused('quiet_hours', `The quiet hours of this key last until ${until.toISOString()}. Ask again then.`)
}

export const allowedSkills = (skills: readonly string[]): string =>
  skills.length === 0 ? 'It allows none.' : `It allows ${skills.join(', ')}.`

export const refused = (rule: Refused['rule'], reason: string): Refused => ({
  kind: 'refused',
  code: 'policy_refused',
  rule,
  reason
})

const dryRun: Refused = {
  kind: 'refused',
  code: 'dry_run_only',
  rule: 'dry_run',
  reason: 'This key is for dry runs: nothing was done.'
}
