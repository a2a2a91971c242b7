import { readFile, writeFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { readJson } from '../../platform/json/names.ts'
import { confirm } from '../confirm.ts'
import { projectOf } from '../connection.ts'
import { exit, Failure } from '../exit.ts'
import { amount, counted, printable, reason, record, table, time } from '../output.ts'
import type { Resource } from '../resource.ts'
import { inProject, type Session, tell } from '../session.ts'

interface Receipt {
  erasure_id: string
  completed_at: string
  actor: string
  erased: Record<string, number>
  remaining: { table: string; rows: number; reason: string; until: string | null }[]
}

export function declareErasures(users: Resource): void {
  declareErase(users)
  declareList(users)
  declareVerify(users)
}

function declareErase(users: Resource): void {
  users.verb<{ yes?: true; receipt?: string }>(
    {
      usage: 'erase <user>',
      about: 'Erase a user and every copy of its data, with a receipt',
      examples: ['tidings user erase ana --receipt ana-erased.json', 'tidings user erase ana --yes --json'],
      more: `Deletes what \`tidings user delete\` deletes, and removes the user from stored
responses, tasks of agents, webhook deliveries, audiences of triggers and the
inbox of simulators. The receipt says what was erased, and names no person. A
user that was deleted before can be erased too. Needs the role admin.`,
      options: (erase) =>
        erase.option('-y, --yes', 'Do not ask').option('--receipt <file>', 'Write the receipt to this file')
    },
    async (session, { yes, receipt: file }, id: string) => {
      const question = `Erase the user ${printable(id)} of the project ${projectOf(session.connection)} for good? [y/N] `
      await confirm(session.shell, question, /^y(es)?$/i, yes === true)
      const receipt = await session.client.json<Receipt>('POST', path(session), {
        body: { project_user_id: id },
        repeatable: true
      })
      if (file !== undefined) await save(file, receipt)
      const written = file === undefined ? '' : `\nThe receipt is in ${file}.`
      tell(session, receipt, `${outcome(receipt, printable(id))}\n\n${shown(receipt)}${written}`)
    }
  )
}

function declareList(users: Resource): void {
  users.verb<{ user?: string }>(
    {
      usage: 'erasures',
      about: 'List receipts of erasures, newest first',
      examples: ['tidings user erasures', 'tidings user erasures --user ana --json'],
      options: (list) => list.option('--user <user>', 'Only receipts about this user')
    },
    async (session, { user }) => {
      const query = user === undefined ? '' : `?project_user_id=${encodeURIComponent(user)}`
      const found = await session.client.json<{ items: Receipt[] }>('GET', `${path(session)}${query}`)
      const rows = found.items.map((receipt) => [
        receipt.erasure_id,
        time(receipt.completed_at),
        amount(rowsIn(receipt)),
        receipt.actor
      ])
      tell(session, found, rows.length === 0 ? 'No erasures.' : table(['ERASURE', 'AT', 'ROWS', 'BY'], rows))
    }
  )
}

function declareVerify(users: Resource): void {
  users.verb<{ user?: string }>(
    {
      usage: 'verify-erasure <file>',
      about: 'Check that a receipt is genuine, and whether it is about a user',
      examples: ['tidings user verify-erasure ana-erased.json --user ana'],
      more: 'Ends with 1 if the receipt is not genuine or is about another user.',
      options: (verify) => verify.option('--user <user>', 'Is the receipt about this user?')
    },
    async (session, { user }, file: string) => {
      const receipt = await readReceipt(session, file)
      const body = { receipt, ...(user !== undefined && { project_user_id: user }) }
      const options = { body, repeatable: true }
      const found = await session.client.json<Verified>('POST', `${path(session)}:verify`, options)
      if (!found.valid || found.same_user === false) throw new Failure(exit.failure, 'not_proven', verdict(found, user))
      tell(session, found, verdict(found, user))
    }
  )
}

interface Verified {
  valid: boolean
  same_user: boolean | null
}

function verdict({ valid, same_user }: Verified, user: string | undefined): string {
  if (!valid) return 'The receipt is not genuine: this project did not issue it, or it was changed.'
  if (same_user === null) return 'The receipt is genuine.'
  return `The receipt is genuine, and is about ${same_user ? 'the user' : 'another user than'} ${printable(user!)}.`
}

const path = (session: Session) => inProject(session, '/erasures')

const rowsIn = ({ erased }: Receipt) => Object.values(erased).reduce((sum, rows) => sum + rows, 0)

/** A typo in the id must not read like an erasure. A user that was deleted before may have left rows elsewhere. */
function outcome(receipt: Receipt, id: string): string {
  if (receipt.erased.users) return `Erased the user ${id}.`
  const rows = rowsIn(receipt)
  if (rows > 0) return `No user ${id} exists. Erased ${counted(rows, 'row')} that named this id.`
  return `Nothing was erased: no user ${id} exists, and no rows name this id.`
}

const shown = ({ erasure_id, completed_at, erased, remaining }: Receipt) =>
  [
    record([
      ['Erasure', erasure_id],
      ['Completed', time(completed_at)],
      ...Object.entries(erased)
        .filter(([, rows]) => rows > 0)
        .map(([name, rows]): [string, string] => [name, amount(rows)])
    ]),
    ...remaining.map((left) => `Left in ${left.table}${left.until ? ` until ${time(left.until)}` : ''}: ${left.reason}`)
  ].join('\n')

const save = (file: string, receipt: Receipt) =>
  writeFile(file, `${JSON.stringify(receipt, null, 2)}\n`, { mode: 0o600 }).catch((error) => {
    throw new Failure(
      exit.failure,
      'unwritable',
      `The user is erased, but ${file} cannot be written: ${reason(error)}.`
    )
  })

async function readReceipt(session: Session, file: string): Promise<unknown> {
  try {
    return readJson(file === '-' ? await text(session.shell.stdin) : await readFile(file, 'utf8'))
  } catch (error) {
    throw new Failure(exit.failure, 'unreadable', `${file} is not a receipt: ${reason(error)}.`)
  }
}
