import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { type Action, listActions } from '../../a2a/skills/registry.ts'
import { Ended, exit, Failure } from '../exit.ts'
import { type Common, connect, examples, inProject, reaching, type Session, tell } from '../session.ts'
import type { Shell } from '../shell.ts'
import { addFields, givenFields, lineOf } from './fields.ts'
import { shownTask, type Task } from './shown.ts'

interface Reply {
  result?: { task: Task }
  error?: { code: number; message: string }
}

/** A command for each action of the registry: it sends the message that an agent would send, and prints the task. */
export function declare(command: Command, shell: Shell): void {
  const actions = listActions()
  examples(
    command,
    actions
      .filter(({ effect }) => effect === 'read')
      .slice(0, 2)
      .map(lineOf),
    `These commands do what agents do, as agents do it: each makes a task, which the
console shows. Fields that are objects or lists are JSON.`
  )
  for (const action of actions) declareAction(command, shell, action)
}

function declareAction(group: Command, shell: Shell, action: Action): void {
  const command = group.command(action.id).description(action.description.replace(/\.$/, ''))
  addFields(command, action)
  command.option('--idempotency-key <key>', 'Makes the command safe to repeat: it is done once')
  reaching(command, 'project')
  examples(command, [lineOf(action)], 'Ends with 1 unless the task is completed.')
  command.action(async (options: Common & { idempotencyKey?: string }) => {
    const session = await connect(shell, options)
    const data = { skill: action.id, ...givenFields(action, options as Record<string, unknown>) }
    const task = await send(session, data, options.idempotencyKey)
    tell(session, task, shownTask(task))
    if (task.status.state !== 'completed') throw new Ended(exit.failure)
  })
}

async function send(session: Session, data: object, key: string | undefined): Promise<Task> {
  const message = { messageId: randomUUID(), role: 'user', parts: [{ data }] }
  const { result, error } = await session.client.json<Reply>('POST', inProject(session, '/a2a'), {
    body: { jsonrpc: '2.0', id: message.messageId, method: 'SendMessage', params: { message } },
    headers: { 'a2a-version': '1.0', ...(key !== undefined && { 'x-service-idempotency-key': key }) },
    // The id of the message is its key: a repeat has no second effect.
    repeatable: true
  })
  if (result) return result.task
  throw new Failure(exit.failure, 'refused', error?.message ?? 'The service responded without a task.')
}
