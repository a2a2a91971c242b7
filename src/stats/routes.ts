import type { Routes } from '../platform/http/routes.ts'
import type { ApiAccess, ApiCaller } from '../projects/projects.ts'
import { csvOf } from './csv.ts'
import { ProjectStatsAnswer, ProjectStatsQuery, StatsAnswer, StatsQuery } from './schemas.ts'
import type { Stats } from './stats.ts'

const wantsCsv = (accept: string | undefined) => /(^|,)\s*text\/csv\b/i.test(accept ?? '')

/** What came of a campaign, for backends, the console and the CLI. */
export function statsRoutes(api: Routes<ApiCaller, ApiAccess>, stats: Stats): void {
  api.get(
    '/campaigns/:campaign_id/stats',
    {
      summary: 'Read what came of a campaign: a funnel in all, over time and by group',
      params: { campaign_id: 'The id of the campaign, percent-encoded.' },
      query: StatsQuery,
      answer: StatsAnswer,
      refusals: ['not_found', 'invalid_campaign_id', 'invalid_parameter']
    },
    async ({ caller, params: { campaign_id }, query: { format, by, ...period }, request, reply }) => {
      const read = await stats.read(caller.project.id, campaign_id, period, by)
      if (format === 'csv' || (format === undefined && wantsCsv(request.headers.accept))) {
        reply.type('text/csv; charset=utf-8')
        return csvOf(read, by)
      }
      const { totals, series, groups } = read
      return { totals, series, groups }
    }
  )

  api.get(
    '/stats',
    {
      operationId: 'getProjectStats',
      summary: 'Read what came of everything that the project sent: in all, over time, by campaign and directly',
      query: ProjectStatsQuery,
      answer: ProjectStatsAnswer,
      refusals: ['invalid_parameter']
    },
    async ({ caller, query: { format, ...period }, request, reply }) => {
      const read = await stats.readProject(caller.project.id, period)
      if (format === 'csv' || (format === undefined && wantsCsv(request.headers.accept))) {
        reply.type('text/csv; charset=utf-8')
        return csvOf({ ...read, cells: [] }, undefined)
      }
      return read
    }
  )
}
