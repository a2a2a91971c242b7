import { hash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { printCampaignSchema } from '../../campaigns/definition/file-schema.ts'
import type { Campaign } from '../../wire.ts'
import { exit, Failure } from '../exit.ts'
import { reason } from '../output.ts'
import type { Shell } from '../shell.ts'
import { differences } from './diff.ts'
import { type FiledCampaign, filesOf, readCampaigns } from './files.ts'
import { asJson, asYaml, definitionOf, rewrite, textOf } from './written.ts'

/** What happened to one campaign. */
export interface Pulled {
  campaign_id: string
  file: string
  result: 'created' | 'updated' | 'unchanged' | 'only_in_folder'
}

export const schemaName = 'campaign.schema.json'

/**
 * Writes campaigns to a folder. A campaign that a file has stays in that file; the others get a file each. A file whose
 * campaign is the same is not touched, whatever its form.
 */
export async function pull(
  shell: Shell,
  folder: string,
  campaigns: readonly Campaign[],
  { withSchema, whole }: { withSchema: boolean; whole: boolean }
): Promise<Pulled[]> {
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw unwritable(folder, error)
  })
  const filed = new Map((await campaignsIn(shell, folder)).map((one) => [one.id, one]))
  const pulled: Pulled[] = []
  for (const campaign of campaigns) {
    const known = filed.get(campaign.campaign_id)
    filed.delete(campaign.campaign_id)
    if (known) pulled.push(await update(known, campaign))
    // An archived campaign has no file of its own: nothing starts it any more.
    else if (campaign.status !== 'archived' || !whole) pulled.push(await create(folder, campaign, withSchema))
  }
  if (whole) for (const { id, file } of filed.values()) pulled.push({ campaign_id: id, file, result: 'only_in_folder' })
  if (withSchema) await writeChanged(join(folder, schemaName), printCampaignSchema())
  return pulled
}

async function campaignsIn(shell: Shell, folder: string): Promise<FiledCampaign[]> {
  const files = await filesOf([folder]).catch(() => [])
  return files.length > 0 ? readCampaigns(shell, files) : []
}

async function update(
  { id, file, campaign: now, document, documents }: FiledCampaign,
  stored: Campaign
): Promise<Pulled> {
  const definition = definitionOf(stored)
  if (isSame(definition, { ...now, campaign_id: id })) return { campaign_id: id, file, result: 'unchanged' }
  if (file.endsWith('.json') && documents.length === 1) {
    await writeWhole(file, asJson({ ...('$schema' in now && { $schema: now.$schema }), ...definition }))
  } else {
    rewrite(document, now, definition)
    await writeWhole(file, textOf(documents))
  }
  return { campaign_id: id, file, result: 'updated' }
}

function isSame(definition: Record<string, unknown>, filed: Record<string, unknown>): boolean {
  try {
    return differences(definition, filed).length === 0
  } catch (error) {
    // A file that the service would refuse is another one.
    if (error instanceof Failure) return false
    throw error
  }
}

async function create(folder: string, campaign: Campaign, withSchema: boolean): Promise<Pulled> {
  const file = join(folder, `${fileName(campaign.campaign_id)}.yaml`)
  const schema = withSchema ? `# yaml-language-server: $schema=${schemaName}\n` : ''
  await writeWhole(file, `${schema}${asYaml(definitionOf(campaign))}`)
  return { campaign_id: campaign.campaign_id, file, result: 'created' }
}

/** The longest name of a file that every usual file system takes, with room for its ending. */
const longestName = 200

/** Ids may hold anything, also a slash or a dot in front. A long one is cut, and told apart by its hash. */
function fileName(id: string): string {
  const name = id.replace(/^\.|[^A-Za-z0-9._-]/gu, (one) =>
    encodeURIComponent(one).replace(/^[^%]$/, (plain) => `%${plain.charCodeAt(0).toString(16).toUpperCase()}`)
  )
  return name.length <= longestName ? name : `${name.slice(0, longestName - 13)}-${hash('sha256', id).slice(0, 12)}`
}

async function writeChanged(file: string, content: string): Promise<void> {
  const before = await readFile(file, 'utf8').catch(() => undefined)
  if (before !== content) await writeWhole(file, content)
}

/** Writes beside the file first, so that an interruption leaves the old one whole. */
async function writeWhole(file: string, content: string): Promise<void> {
  const temporary = `${file}.tmp`
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(temporary, content)
    await rename(temporary, file)
  } catch (error) {
    throw unwritable(file, error)
  }
}

const unwritable = (path: string, error: unknown) =>
  new Failure(exit.failure, 'unwritable', `${path} cannot be written: ${reason(error)}.`)
