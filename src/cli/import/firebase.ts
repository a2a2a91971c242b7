import type { Fields } from '../../platform/fields.ts'
import { isObject } from '../../platform/fields.ts'
import { readJson } from '../../platform/json/names.ts'
import type { Properties, Scalar } from '../properties.ts'
import { csvRecords } from './csv-reader.ts'
import { jsonRecords } from './json-reader.ts'
import { lost, type Problem, type SourceRecord, type Translated } from './records.ts'
import type { Read } from './run.ts'
import { timeIn } from './values.ts'

/** The columns that `firebase auth:export` writes without a header, by their places. */
const places: Record<string, number> = {
  localId: 0,
  email: 1,
  emailVerified: 2,
  displayName: 5,
  photoUrl: 6,
  createdAt: 23,
  lastSignedInAt: 24,
  phoneNumber: 25,
  disabled: 26,
  customAttributes: 27
}
const fewestColumns = 26

/** Reads what `firebase auth:export users.csv` or `users.json` wrote. */
export const firebaseFormat: Read = async function* (source) {
  const { isJson, chunks } = await looked(source.chunks)
  if (isJson)
    for await (const records of jsonRecords(chunks)) yield records.map((record) => translated(record, accountIn))
  else for await (const records of csvRecords(chunks, ',')) yield records.map((record) => translated(record, rowIn))
}

const translated = <Value>(record: SourceRecord<Value>, read: (value: Value) => Translated) => ({
  record,
  translated: record.fault === undefined ? read(record.value) : lost(record.fault)
})

async function looked(input: AsyncIterable<Buffer>): Promise<{ isJson: boolean; chunks: AsyncIterable<Buffer> }> {
  const iterator = input[Symbol.asyncIterator]()
  const first = await iterator.next()
  const chunks = (async function* () {
    if (first.done) return
    yield first.value
    yield* { [Symbol.asyncIterator]: () => iterator }
  })()
  return { isJson: !first.done && /^(?:\xef\xbb\xbf)?\s*[{[]/.test(first.value.toString('latin1', 0, 64)), chunks }
}

function rowIn(cells: string[]): Translated {
  if (cells.length < fewestColumns)
    return lost(`has ${cells.length} columns; an export of Firebase Authentication has ${places.customAttributes! + 1}`)
  return accountIn(Object.fromEntries(Object.entries(places).map(([name, place]) => [name, cells[place] || undefined])))
}

/** Hashes of passwords stay behind: Tidings knows no passwords of users. */
function accountIn(account: unknown): Translated {
  const { localId, email, displayName, photoUrl, phoneNumber, createdAt, lastSignedInAt, ...rest } = account as Fields
  if (typeof localId !== 'string' || localId === '') return lost('has no localId')
  if (String(rest.disabled) === 'true') return { ...lost('the account is disabled'), user: localId }
  const problems: Problem[] = []
  const properties: Properties = {}
  const texts = { email, name: displayName, photo_url: photoUrl, phone: phoneNumber }
  for (const [name, value] of Object.entries(texts))
    if (typeof value === 'string' && value !== '') properties[name] = value
  if (email && rest.emailVerified !== undefined) properties.email_verified = String(rest.emailVerified) === 'true'
  for (const [name, value] of Object.entries(claimsIn(rest.customAttributes, problems)))
    if (value === null || typeof value !== 'object') properties[name] = value as Scalar
    else problems.push({ part: 'properties', reason: `customAttributes: ${name} is a list or an object` })
  const [created, seen] = [timeIn(createdAt), timeIn(lastSignedInAt)]
  return {
    user: localId,
    properties,
    ...(created && { created_at: created }),
    ...(seen && { last_seen_at: seen }),
    devices: [],
    problems
  }
}

function claimsIn(text: unknown, problems: Problem[]): Fields {
  if (typeof text !== 'string' || text === '') return {}
  try {
    const claims: unknown = readJson(text)
    if (isObject(claims)) return claims
  } catch {}
  problems.push({ part: 'properties', reason: 'customAttributes: is not a JSON object' })
  return {}
}
