import type { Facts, Oversight } from '../../oversight/oversight.ts'
import type { Db } from '../../platform/db/db.ts'
import { Refusal } from '../../platform/errors.ts'
import type { ApiCaller } from '../../projects/projects.ts'
import { rejected } from '../skills/check.ts'
import type { Skill } from '../skills/skill.ts'
import type { Skills } from '../skills/skills.ts'
import type { Reading } from '../text/reading.ts'
import type { askWith, Oversee, Overseen } from './oversee.ts'
import type { Turn } from './turn.ts'

type Run = Turn & { kind: 'run' }
type Stop = Turn & { kind: 'stop' }

export interface PolicedNeeds {
  /** Judges a turn before the policy does. */
  oversee: Oversee
  oversight: Pick<Oversight, 'gate' | 'approvals' | 'confirmations'>
  askToConfirm: ReturnType<typeof askWith>
  skills: Skills
}

/**
 * Applies the policy of the caller's key to turns: a turn that is not allowed is rejected, and a turn that needs a
 * person waits for the approval. Turns of callers without a policy pass without waiting.
 */
export function createPoliced({ oversee, oversight, askToConfirm, skills }: PolicedNeeds): Oversee {
  async function judged(turn: Run, overseen: Overseen): Promise<Turn> {
    const { caller, agent } = overseen
    const { skill, request } = turn
    const confirmationId = request.fields.confirmationId as string | undefined
    try {
      // The fields of a skill that is not allowed may be incomplete, and are not read.
      const reach = isForbidden(caller, skill) ? undefined : skill.reach?.(request.fields)
      const action = { skill: skill.id, effect: skill.effect, reach }
      const verdict = await oversight.gate(caller, action, { confirmationId })
      switch (verdict.kind) {
        case 'allowed':
          return verdict.permit ? { ...turn, request: { ...request, permit: verdict.permit } } : turn
        case 'refused':
          return { kind: 'stop', state: 'rejected', request, reason: verdict.reason }
        case 'confirmation':
          return await askToConfirm(request, overseen, verdict.facts as Facts)
        case 'approval': {
          const { approvalId, ...asked } = oversight.approvals.ask(caller, action, verdict, agent)
          const write = async (tx: Db, taskId: string) => {
            if (confirmationId)
              await oversight.confirmations.claimApproval(tx, caller.project.id, confirmationId, taskId)
            await asked.write(tx, taskId)
          }
          return { kind: 'stop', state: 'auth-required', request: { ...request, approvalId }, ...asked, write }
        }
      }
    } catch (error) {
      if (!(error instanceof Refusal) || error.code === 'unavailable') throw error
      const { reason = error.message } = rejected(error)
      return { kind: 'stop', state: 'rejected', request, reason }
    }
  }

  /** A question for a yes that the policy would refuse is not asked, and its facts are not shown. */
  async function judgedQuestion(turn: Stop, skill: Skill, overseen: Overseen): Promise<Turn> {
    const judged = await judge({ kind: 'run', skill, request: turn.request }, overseen)
    // What is allowed, or needs an approval, is asked about first.
    return judged.kind === 'stop' && judged.state !== 'auth-required' ? judged : oversee(turn, overseen)
  }

  /** The skill of a question for a yes. */
  function askedSkill({ state, request: { pending } }: Stop): Skill | undefined {
    const reading = pending as Reading | undefined
    return state === 'input-required' && reading?.kind === 'confirm' ? skills.get(reading.skill) : undefined
  }

  function judge(turn: Turn, overseen: Overseen): Turn | Promise<Turn> {
    if (turn.kind === 'stop' || turn.repeated || !overseen.caller.key?.policy) return turn
    const { answers } = turn
    const next = judged(turn, overseen)
    return answers === undefined ? next : next.then((one) => ({ ...one, answers }))
  }

  /** The skill that a turn would run, asks about or refuses, if the policy does not allow it. A no may always be said. */
  function forbiddenSkill(turn: Turn, { caller }: Overseen): Skill | undefined {
    if (turn.kind === 'stop' && turn.state !== 'input-required' && turn.state !== 'rejected') return undefined
    const { skill: id } = turn.request
    const skill = id === undefined ? undefined : skills.get(id)
    return skill && isForbidden(caller, skill) ? skill : undefined
  }

  return (turn, overseen) => {
    const policy = overseen.caller.key?.policy
    const forbidden = policy && forbiddenSkill(turn, overseen)
    if (forbidden) return judged({ kind: 'run', skill: forbidden, request: turn.request }, overseen)
    const skill = policy && turn.kind === 'stop' ? askedSkill(turn) : undefined
    if (skill) return judgedQuestion(turn as Stop, skill, overseen)
    const next = oversee(turn, overseen)
    return next instanceof Promise ? next.then((one) => judge(one, overseen)) : judge(next, overseen)
  }
}

/** Checked before anything is counted: a caller is shown no facts of a skill that is not its own. */
export function isForbidden({ key }: ApiCaller, { id }: Skill): boolean {
  const listed = key?.policy?.skills
  return listed ? !listed.includes(id) : false
}
