import { Type } from '@sinclair/typebox'
import { Refusal } from '../../../platform/errors.ts'
import type { Routes } from '../../../platform/http/routes.ts'
import type { ManageAccess, ManageCaller } from '../../../projects/projects.ts'
import { readWarnings, warningsOf } from '../../definition/warnings.ts'
import type { Saving } from '../../saving.ts'
import { canonicalTag } from '../language.ts'
import { csvOf, unitsOfCsv } from './csv.ts'
import { languagesOf, unitsOf, unreadable, withTranslations } from './units.ts'
import { unitsOfXliff, xliffOf } from './xliff.ts'

/** Enough for all texts of a campaign in a hundred languages, as far as one can have them. */
const mostBytes = 4 * 1024 * 1024

const path = '/projects/:project_id/campaigns/:campaign_id/texts'
const Format = Type.Optional(
  Type.Unsafe<'csv' | 'xliff'>({
    type: 'string',
    enum: ['csv', 'xliff'],
    description: 'csv (default) or xliff: XLIFF 1.2.'
  })
)

/** Routes by which texts go to translators and come back. */
export function textRoutes(manage: Routes<ManageCaller, ManageAccess>, saving: Saving): void {
  manage.get(
    path,
    {
      operationId: 'exportProjectCampaignTexts',
      summary: 'Export the texts of a campaign for translators, as CSV or XLIFF',
      access: 'viewer',
      query: Type.Object({
        format: Format,
        languages: Type.Optional(
          Type.String({ maxLength: 1_000, description: 'Further languages to translate into: fr,pt-BR.' })
        )
      }),
      answerType: 'text/csv',
      refusals: ['not_found', 'invalid_campaign_id', 'invalid_parameter']
    },
    async ({ caller, params, query: { format = 'csv', languages = '' }, reply }) => {
      const { id, version, definition } = await saving.get(caller.project!.id, params.campaign_id)
      const units = unitsOf(definition)
      const all = languagesOf(
        units,
        languages
          .split(',')
          .map((one) => one.trim())
          .filter(Boolean)
          .map(tagOf)
      )
      reply.header('etag', `"${version}"`)
      if (format === 'csv') {
        reply.type('text/csv; charset=utf-8').header('content-disposition', 'attachment; filename="texts.csv"')
        return csvOf(units, all)
      }
      if (all.length === 0) throw refused('must name one: the campaign has no translation yet')
      reply.type('application/xliff+xml; charset=utf-8')
      reply.header('content-disposition', 'attachment; filename="texts.xlf"')
      return xliffOf({ campaignId: id, version }, units, all)
    }
  )

  manage.put(
    path,
    {
      operationId: 'importProjectCampaignTexts',
      summary: 'Import translations of a campaign: a file that was exported, with more texts in it',
      access: 'editor',
      query: Type.Object({ format: Format }),
      body: Type.Unsafe<Buffer>({
        type: 'string',
        description: 'CSV, or XLIFF 1.2 as application/xliff+xml, in UTF-8.'
      }),
      bodyKind: 'bytes',
      bodyType: 'text/csv',
      maxBody: mostBytes,
      example: 'id,source,de\nmessage.title,Hello,Hallo\n',
      answer: Type.Object({
        result: Type.String({ description: 'updated, or unchanged if no text is new.' }),
        version: Type.Integer({ description: 'The version of the campaign now.' }),
        changed: Type.Integer({ description: 'Texts that are new.' }),
        warnings: Type.Array(Type.String(), { description: 'As when the campaign is saved.' })
      }),
      refusals: [
        'not_found',
        'invalid_campaign_id',
        'invalid_parameter',
        'conflict',
        'invalid_campaign',
        'invalid_template'
      ]
    },
    async ({ caller, params, query: { format }, body }) => {
      const projectId = caller.project!.id
      const current = await saving.get(projectId, params.campaign_id)
      const text = textOf(body)
      const isXml = format === undefined ? /^\ufeff?\s*</.test(text) : format === 'xliff'
      const returned = isXml ? unitsOfXliff(text, current.id) : unitsOfCsv(text)
      const { campaign, changed } = withTranslations(current.definition, returned)
      const { row, result } = await saving.replace(projectId, caller.actor, current.id, campaign, current.version)
      await readWarnings([row.definition])
      return { result, version: row.version, changed, warnings: warningsOf(row.definition) }
    }
  )
}

const refused = (message: string) =>
  new Refusal('invalid_parameter', `languages: ${message}`, [{ path: 'languages', message }])

function tagOf(text: string): string {
  const tag = canonicalTag(text)
  if (tag === undefined)
    throw refused(`must be language tags such as en, pt-BR or zh-Hant, and ${text.slice(0, 64)} is none`)
  return tag
}

function textOf(body: unknown): string {
  const text = decoded(body as Buffer)
  if (text.includes('\0')) throw unreadable('it holds NUL')
  return text
}

function decoded(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
  } catch {
    throw unreadable('it is not UTF-8')
  }
}
