import { readFile } from 'node:fs/promises'
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
  id: string
  campaign: Record<string, unknown>
  /** Adds the place in the file to each fault that has one. */
  placed(details: readonly Detail[]): PlacedDetail[]
}

const refused = (message: string) => new Failure(exit.failure, 'invalid_file', message)

/** The most frequent mistake in a campaign: in YAML, braces begin a map and a colon ends a name. */
const quotesRule = "In YAML, text with {{ … }} stands in quotes: 'Hello {{ user.name }}'."

/** The documents of a file: their name for people, and the field of their id. */
interface Kind {
  name: string
  id: string
}

export const readCampaigns = (shell: Shell, file: string): Promise<FiledCampaign[]> =>
  readFiled(shell, file, { name: 'campaign', id: 'campaign_id' })

/** Reads the documents of a YAML or JSON file, one or several; `-` is standard input. */
export async function readFiled(shell: Shell, file: string, kind: Kind): Promise<FiledCampaign[]> {
  const source = await (file === '-' ? text(shell.stdin) : readFile(file, 'utf8')).catch((error: unknown) => {
    throw refused(`${file} cannot be read: ${reason(error)}.`)
  })
  const lines = new LineCounter()
  // A JSON document is YAML too. Aliases are not followed: a few lines of them make a document of gigabytes.
  const documents = parseAllDocuments(source, { lineCounter: lines, prettyErrors: false })
  const found: FiledCampaign[] = []
  for (const [index, document] of [...documents].entries()) {
    const place = documents.length > 1 ? `${file}, document ${index + 1}` : file
    const [fault] = document.errors
    if (fault) {
      const { line, col } = lines.linePos(fault.pos[0])
      const braces = source.split('\n')[line - 1]?.includes('{{') ? ` ${quotesRule}` : ''
      throw refused(`${file}:${line}:${col} ${fault.message}.${braces}`)
    }
    const value: unknown = contentOf(document, place)
    if (value === null || value === undefined) continue
    if (typeof value !== 'object' || Array.isArray(value)) throw refused(`${place}: a ${kind.name} must be an object.`)
    const id = (value as Record<string, unknown>)[kind.id]
    if (typeof id !== 'string' || id === '') throw refused(`${place}: ${kind.id} is required, as text.`)
    const placed = (details: readonly Detail[]) => details.map((detail) => withPlace(detail, document, source, lines))
    found.push({ place, id, campaign: value as Record<string, unknown>, placed })
  }
  if (found.length === 0) throw refused(`${file} contains no ${kind.name}.`)
  return found
}

function contentOf(document: Document.Parsed, place: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 })
  } catch {
    throw refused(`${place}: aliases such as *name are not supported. Write the value out.`)
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
