import { readFile } from 'node:fs/promises'
import type { Policy } from '../../wire.ts'
import { usageFailure } from '../exit.ts'
import { amount, reason } from '../output.ts'

export const policyHelp = `A policy is a JSON object, or a file that holds one.
  skills                  ["find-user", "create-user"]: no others
  max_recipients          users that one action may reach
  max_recipients_per_day  users that all actions of 24 hours may reach
  approval_above          an action for more users waits for a person
  confirm_broadcasts      true: a broadcast needs the id of a preview
  dry_run                 true: reading and previews only
  quiet_hours             {"from": "22:00", "to": "08:00", "timezone": "UTC"}`

export const policyExample = '\'{"approval_above": 50}\''

/** The policy in an argument: JSON, or the name of a file that contains it. `none` removes the policy. */
export async function readPolicyArgument(argument: string): Promise<unknown> {
  if (argument === 'none') return null
  const isJson = argument.trimStart().startsWith('{')
  const text = isJson
    ? argument
    : await readFile(argument, 'utf8').catch((error) => {
        throw usageFailure(`The policy cannot be read from ${argument}: ${reason(error)}. Give JSON or a file.`)
      })
  try {
    return JSON.parse(text)
  } catch (error) {
    throw usageFailure(`The policy is not JSON: ${(error as Error).message}.`)
  }
}

/** The policy in a line, for lists and for one key. */
export function policyInShort(policy: Policy | null): string {
  if (!policy) return 'none'
  const { skills, quiet_hours: hours } = policy
  const parts = [
    policy.dry_run && 'dry run',
    skills && `skills: ${skills.join(', ') || 'none'}`,
    policy.max_recipients !== null && `at most ${amount(policy.max_recipients)} at once`,
    policy.max_recipients_per_day !== null && `${amount(policy.max_recipients_per_day)} a day`,
    policy.approval_above !== null && `approval above ${amount(policy.approval_above)}`,
    policy.confirm_broadcasts && 'confirms broadcasts',
    hours && `quiet ${hours.from} to ${hours.to} ${hours.timezone}`
  ].filter((part) => part !== null && part !== false)
  return parts.join('; ') || 'no limits'
}
