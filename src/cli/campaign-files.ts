import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { parseAllDocuments } from 'yaml'
import { exit, Failure } from './exit.ts'
import { reason } from './output.ts'
import type { Shell } from './shell.ts'

export interface FiledCampaign {
  /** Where it stands, for whoever has to mend it. */
  place: string
  id: string
  campaign: Record<string, unknown>
}

const refused = (message: string) => new Failure(exit.failure, 'invalid_file', message)

/** The campaigns of a YAML or JSON file, one or several documents; `-` is standard input. */
export async function readCampaigns(shell: Shell, file: string): Promise<FiledCampaign[]> {
  const source = await (file === '-' ? text(shell.stdin) : readFile(file, 'utf8')).catch((error: unknown) => {
    throw refused(`${file} cannot be read: ${reason(error)}.`)
  })
  // A JSON document is YAML too. Aliases are not followed: a few lines of them make a document of gigabytes.
  const documents = parseAllDocuments(source, { prettyErrors: true })
  const found: FiledCampaign[] = []
  for (const [index, document] of [...documents].entries()) {
    const place = documents.length > 1 ? `${file}, document ${index + 1}` : file
    const [fault] = document.errors
    if (fault) throw refused(`${place}: ${fault.message.split('\n')[0]}`)
    const value: unknown = contentOf(document, place)
    if (value === null || value === undefined) continue
    if (typeof value !== 'object' || Array.isArray(value)) throw refused(`${place}: a campaign must be an object.`)
    const { campaign_id: id } = value as { campaign_id?: unknown }
    if (typeof id !== 'string' || id === '') throw refused(`${place}: campaign_id must be given, as text.`)
    found.push({ place, id, campaign: value as Record<string, unknown> })
  }
  if (found.length === 0) throw refused(`${file} holds no campaign.`)
  return found
}

function contentOf(document: { toJS(options: { maxAliasCount: number }): unknown }, place: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 })
  } catch (error) {
    throw refused(`${place}: ${(error as Error).message}`)
  }
}
