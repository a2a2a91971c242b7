import type { TriggerCampaign } from '../../campaigns/campaigns.ts'
import type { Facts, Oversight, Shown } from '../../oversight/oversight.ts'
import { Refusal } from '../../platform/errors.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { ApiCaller } from '../../projects/projects.ts'
import type { Message, Request, Task } from '../model.ts'
import { rejected } from '../skills/check.ts'
import { triggerCommandOf } from '../skills/trigger-campaign/command.ts'
import { fieldsOfCommand } from '../skills/trigger-campaign/confirmed.ts'
import type { Reading } from '../text/reading.ts'
import { confirmedSkill } from './confirming.ts'
import type { Turn } from './turn.ts'

/** The message that made a turn, and its sender. */
export interface Overseen {
  projectId: ProjectId
  caller: ApiCaller
  /** The name of the asking agent, if it gave one. */
  agent: string | undefined
  message: Message
  /** The task that the message continues; undefined if it begins one. */
  task: Task | undefined
}

/** Checks a turn before anything of it is written. Returns the same turn or a replacement. */
export type Oversee = (turn: Turn, overseen: Overseen) => Turn | Promise<Turn>

type Run = Turn & { kind: 'run' }
type Stop = Turn & { kind: 'stop' }
/**
 * A question for a yes, with the facts that its caller was shown. It is stored with the task and read with the answer.
 */
type Question = Reading & { kind: 'confirm' } & { shown?: { text: string; data: Shown } }

/**
 * Makes a caller agree to the facts that it was shown. A question about a campaign carries the facts under an id, and a
 * yes counts only while they hold. Requests that need no confirmation pass without waiting.
 */
export const createOversee = (oversight: Oversight): Oversee => {
  const oversees = new Overseer(oversight)
  return (turn, overseen) => (turn.kind === 'stop' ? oversees.stop(turn, overseen) : oversees.run(turn, overseen))
}

/**
 * Asks for a yes to a trigger by data, because the policy of the caller's key demands one. `facts`: counted a moment
 * ago.
 */
export const askWith =
  (oversight: Oversight) =>
  (request: Request, overseen: Overseen, facts?: Facts): Promise<Turn> =>
    new Overseer(oversight).ask(request, overseen, { facts })

class Overseer {
  readonly #oversight: Oversight

  constructor(oversight: Oversight) {
    this.#oversight = oversight
  }

  stop(turn: Stop, overseen: Overseen): Turn | Promise<Turn> {
    if (turn.state === 'canceled') return this.#declined(turn, overseen)
    const pending = turn.request.pending as Question | undefined
    if (turn.state !== 'input-required' || pending?.kind !== 'confirm' || pending.skill !== confirmedSkill) return turn
    // The unanswered question stands, with the id that its caller knows.
    return pending.shown ? asked(turn.request, pending, pending.shown) : this.ask(turn.request, overseen, {})
  }

  run(turn: Run, overseen: Overseen): Turn | Promise<Turn> {
    if (turn.skill.id !== confirmedSkill) return turn
    const { fields, understood } = turn.request
    if (typeof fields.confirmationId === 'string') return this.#agreed(turn, fields.confirmationId, overseen)
    // Data acts at once, as the contract says. A text that names its recipients does too.
    if (understood === undefined || fields.targets !== undefined) return turn
    return this.#unlessBroadcast(turn, overseen)
  }

  /** After a no, the id of the question confirms nothing any more. */
  async #declined(turn: Stop, { projectId, caller, task }: Overseen): Promise<Turn> {
    const id = turn.request.fields.confirmationId ?? task?.request.fields.confirmationId
    if (typeof id !== 'string') return turn
    return (await this.#oversight.confirmations.revoke(projectId, caller, id)) ? { ...turn, answers: id } : turn
  }

  async #unlessBroadcast(turn: Run, overseen: Overseen): Promise<Turn> {
    try {
      const command = triggerCommandOf(turn.request.fields)
      if (!(await this.#oversight.isBroadcast(overseen.projectId, command))) return turn
    } catch (error) {
      return refusedBy(error, turn.request)
    }
    return this.ask(turn.request, overseen, {})
  }

  /** A yes that names the confirmation it agrees to. */
  async #agreed(turn: Run, id: string, overseen: Overseen): Promise<Turn> {
    const { projectId, caller, task } = overseen
    const { confirmationId: _, confirm: _confirm, ...fields } = turn.request.fields
    try {
      const command = fields.campaignId === undefined ? undefined : triggerCommandOf(fields)
      const found = await this.#oversight.confirmations.redeem(projectId, caller, id, command)
      if (found.kind === 'confirmed') {
        const confirmed = requestOf(found.command, turn.request)
        // A yes that is only an id does not say what it agrees to, so the result does.
        const understood = command ? confirmed.understood : (confirmed.understood ?? inWords(confirmed.fields))
        const request = { ...confirmed, fields: { ...confirmed.fields, confirmationId: id } }
        const said = understood ? { ...request, understood } : request
        return { ...turn, repeated: found.repeated, request: said, answers: id }
      }
      const { reason } = found
      if (found.kind === 'asked')
        return { kind: 'stop', state: 'auth-required', request: turn.request, reason, instead: found.taskId }
      if (found.kind === 'again') {
        const because = { because: reason, facts: found.facts }
        const next = await this.ask(requestOf(found.command, turn.request), overseen, because)
        return found.isVoid ? { ...next, answers: id } : next
      }
      const pending = task?.request.pending as Question | undefined
      if (task && pending?.kind === 'confirm' && pending.skill === confirmedSkill)
        return this.ask(task.request, overseen, { because: reason })
      return { kind: 'stop', state: 'rejected', request: turn.request, reason }
    } catch (error) {
      return refusedBy(error, turn.request)
    }
  }

  /**
   * Asks for a yes, with the present facts under a new id. A request that a trigger would refuse anyway is rejected.
   */
  async ask(request: Request, overseen: Overseen, { because, facts }: { because?: string; facts?: Facts | undefined }) {
    const { projectId, caller } = overseen
    const { confirmationId: _, confirm: _confirm, campaignVersion: _version, ...fields } = request.fields
    try {
      const shown = await this.#oversight.show(projectId, caller, triggerCommandOf(fields), facts)
      return asked({ ...request, fields }, questionOf(request, fields), shown, because)
    } catch (error) {
      return refusedBy(error, request)
    }
  }
}

/** The question that a text raised, or one about data. */
function questionOf({ pending, understood: said }: Request, fields: Request['fields']): Question {
  const reading = pending as Reading | undefined
  if (reading?.kind === 'confirm' && reading.skill === confirmedSkill) return reading
  const understood = said || inWords(fields)
  const question = `${understood} Shall I? Say yes or no.`
  return { kind: 'confirm', skill: confirmedSkill, data: fields, understood, question }
}

function asked(
  { fields }: Request,
  { shown: _, ...reading }: Question,
  shown: { text: string; data: Shown },
  because?: string
): Stop {
  const { confirmationId } = shown.data
  const data = { ...fields, confirmationId }
  const pending: Question = { ...reading, data, shown }
  const text = withFacts(reading, shown.text)
  return {
    kind: 'stop',
    state: 'input-required',
    request: { skill: confirmedSkill, fields: data, pending },
    reason: because === undefined ? text : `${because} ${text}`,
    data: shown.data
  }
}

/** The facts stand between the understood request and the question itself. */
function withFacts({ question, understood }: { question: string; understood: string }, facts: string): string {
  const at = question.indexOf(understood)
  if (at < 0) return `${understood} ${facts} ${question}`
  const end = at + understood.length
  return `${question.slice(0, end)} ${facts}${question.slice(end)}`
}

/**
 * Describes a request that came as data. It may hold thousands of targets and large properties, so the text counts
 * them.
 */
function inWords({ campaignId, broadcast, targets, properties = {} }: Request['fields']): string {
  const many = Array.isArray(targets) ? `${targets.length} targets` : 'its default audience'
  const passed = Object.keys(properties as object).length
  const given = passed === 0 ? '' : `, and pass it ${passed} ${passed === 1 ? 'property' : 'properties'}`
  return `Trigger the campaign ${JSON.stringify(campaignId)} for ${broadcast ? 'everyone' : many}${given}.`
}

const requestOf = (command: TriggerCampaign, { understood }: Request): Request => ({
  skill: confirmedSkill,
  fields: fieldsOfCommand(command),
  ...(understood !== undefined && { understood })
})

/** A refusal ends the task as it would during a run; the engine handles other errors. */
function refusedBy(error: unknown, request: Request): Stop {
  if (!(error instanceof Refusal) || error.code === 'unavailable') throw error
  const { reason = error.message } = rejected(error)
  const { understood = (request.pending as (Reading & { kind: 'confirm' }) | undefined)?.understood } = request
  return { kind: 'stop', state: 'rejected', request, reason: understood ? `${understood} ${reason}` : reason }
}
