import { glob, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Document, isNode, LineCounter, parseAllDocuments } from 'yaml'
import type { Detail } from '../../platform/errors.ts'
import { exit, Failure } from '../exit.ts'
import { printable, reason } from '../output.ts'
import type { Shell } from '../shell.ts'

/** A fault with its place in the file, for editors and other programs. */
export interface PlacedDetail extends Detail {
  line?: number
  column?: number
}

export interface FiledCampaign {
  /** The name of the file and, if it has several documents, the number of this one. */
  place: string
  file: string
  id: string
  campaign: Record<string, unknown>
  document: Document.Parsed
  /** All documents of the file, in order. */
  documents: readonly Document.Parsed[]
  /** Adds the place in the file to each fault that has one. */
  placed(details: readonly Detail[]): PlacedDetail[]
}

const refused = (message: string, at?: Omit<PlacedDetail, 'path'>) =>
  new Failure(exit.failure, 'invalid_file', message, at && { details: [{ path: '', ...at } as PlacedDetail] })

/** The most frequent mistake in a campaign: in YAML, braces begin a map and a colon ends a name. */
const quotesRule = "In YAML, text with {{ … }} stands in quotes: 'Hello {{ user.name }}'."

/** The documents of a file: their name for people, and the field of their id. */
export interface Kind {
  name: string
  id: string
}

export const campaignKind: Kind = { name: 'campaign', id: 'campaign_id' }
export const segmentKind: Kind = { name: 'segment', id: 'segment_id' }

/** The files that paths name: a folder stands for all YAML and JSON files in it, in the order of their names. */
export async function filesOf(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map(async (path) => ((await isFolder(path)) ? filesIn(path) : [path])))
  return found.flat()
}

const isFolder = async (path: string) =>
  path !== '-' && (await stat(path).catch(() => undefined))?.isDirectory() === true

async function filesIn(folder: string): Promise<string[]> {
  const names = await Array.fromAsync(
    glob('**/*.{yaml,yml,json}', { cwd: folder, exclude: (name) => name === 'node_modules' })
  )
  // A schema lies beside the campaigns, for editors.
  const files = names.filter((name) => !name.endsWith('.schema.json')).sort()
  if (files.length === 0) throw refused(`${folder} contains no YAML or JSON files.`)
  return files.map((name) => join(folder, name))
}

/** Reads the campaigns of files and folders. An id that stands in two places is refused: one would undo the other. */
export async function readCampaigns(
  shell: Shell,
  paths: readonly string[],
  kind = campaignKind
): Promise<FiledCampaign[]> {
  const files = await filesOf(paths)
  const all = (await Promise.all(files.map((file) => readFiled(shell, file, kind)))).flat()
  const [fault] = repeated(all)
  if (fault) throw refused(`${fault.place}: ${printable(fault.id)} stands in ${fault.first} too.`)
  return all
}

/** The documents whose id an earlier document has. */
export function repeated(all: readonly FiledCampaign[]): (FiledCampaign & { first: string })[] {
  const places = new Map<string, string>()
  return all.flatMap((filed) => {
    const first = places.get(filed.id)
    places.set(filed.id, first ?? filed.place)
    return first === undefined ? [] : [{ ...filed, first }]
  })
}

/** Reads the documents of a YAML or JSON file, one or several; `-` is standard input. */
export async function readFiled(shell: Shell, file: string, kind: Kind): Promise<FiledCampaign[]> {
  const found: FiledCampaign[] = []
  for (const one of await readEach(shell, file, [kind])) {
    if (one instanceof Failure) throw one
    found.push(one)
  }
  return found
}

/** Reads a file like `readFiled`, and returns what is wrong with a document in its place. */
export async function readEach(
  shell: Shell,
  file: string,
  kinds: readonly Kind[]
): Promise<(FiledCampaign | Failure)[]> {
  let source: string
  try {
    source = await (file === '-' ? text(shell.stdin) : readFile(file, 'utf8'))
  } catch (error) {
    return [refused(`${file} cannot be read: ${reason(error)}.`, { message: `cannot be read: ${reason(error)}` })]
  }
  const lines = new LineCounter()
  // A JSON document is YAML too. Aliases are not followed: a few lines of them make a document of gigabytes.
  const documents = [...parseAllDocuments(source, { lineCounter: lines, prettyErrors: false })] as Document.Parsed[]
  const found = documents.flatMap((document, index) => {
    const place = documents.length > 1 ? `${file}, document ${index + 1}` : file
    return readDocument({ document, documents, file, place, source, lines }, kinds)
  })
  const name = kinds.map((kind) => kind.name).join(' or ')
  return found.length > 0 ? found : [refused(`${file} contains no ${name}.`, { message: `contains no ${name}` })]
}

interface Opened extends Pick<FiledCampaign, 'document' | 'documents' | 'file' | 'place'> {
  source: string
  lines: LineCounter
}

/** An empty list for a document without content. */
function readDocument({ source, lines, ...opened }: Opened, kinds: readonly Kind[]): (FiledCampaign | Failure)[] {
  const { document, file, place } = opened
  const [fault] = document.errors
  if (fault) {
    const { line, col: column } = lines.linePos(fault.pos[0])
    const braces = source.split('\n')[line - 1]?.includes('{{') ? ` ${quotesRule}` : ''
    const message = `${fault.message}.${braces}`
    return [refused(`${file}:${line}:${column} ${message}`, { message, line, column })]
  }
  const start = lines.linePos(document.contents?.range?.[0] ?? 0)
  const refuse = (message: string) =>
    refused(`${place}: ${message}.`, { message, line: Math.max(1, start.line), column: Math.max(1, start.col) })
  const value = contentOf(document)
  if (value === aliased) return [refuse('aliases such as *name are not supported. Write the value out')]
  if (value === null || value === undefined) return []
  const [first] = kinds as [Kind]
  if (typeof value !== 'object' || Array.isArray(value)) return [refuse(`a ${first.name} must be an object`)]
  const kind = kinds.find(({ id }) => Object.hasOwn(value, id)) ?? first
  const id = (value as Record<string, unknown>)[kind.id]
  if (typeof id !== 'string' || id === '') return [refuse(`${kind.id} is required, as text`)]
  const placed = (details: readonly Detail[]) => details.map((detail) => withPlace(detail, document, source, lines))
  return [{ ...opened, id, campaign: value as Record<string, unknown>, placed }]
}

const aliased = Symbol('aliased')

function contentOf(document: Document.Parsed): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 })
  } catch {
    return aliased
  }
}

/** Finds the node that a fault names or, if it is absent, the nearest node around it. */
function withPlace(detail: Detail, document: Document.Parsed, source: string, lines: LineCounter): PlacedDetail {
  const steps = [...detail.path.matchAll(/[^.[\]]+/g)].map(([step]) => (/^\d+$/.test(step) ? Number(step) : step))
  for (let length = steps.length; length > 0; length -= 1) {
    const node = document.getIn(steps.slice(0, length), true)
    if (!isNode(node) || !node.range) continue
    const { line, col: column } = lines.linePos(node.range[0])
    const braces = source.startsWith('{{', node.range[0]) ? `. ${quotesRule}` : ''
    return { ...detail, message: `${detail.message}${braces}`, line, column }
  }
  return detail
}

/** Runs `work` on a campaign of a file. A refusal is thrown again with the place of every fault in the file. */
export async function withPlaces<Result>(filed: FiledCampaign, work: () => Promise<Result> | Result): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Failure) || error.details.length === 0) throw error
    const details = filed.placed(error.details)
    const file = filed.place.split(', document ')[0]
    const lines = details.map(({ path, message, line, column }) =>
      printable(`  ${line ? `${file}:${line}:${column} ` : ''}${path}: ${message}`)
    )
    const message = [`${filed.place}: ${printable(filed.id)} was refused.`, ...lines].join('\n')
    throw new Failure(error.exitCode as typeof exit.failure, error.code, message, { details })
  }
}
