import { Type } from '@sinclair/typebox'

const figures = {
  targeted: Type.Integer({ description: 'Devices with a message or a skip.' }),
  sent: Type.Integer({ description: 'Messages that gateways accepted.' }),
  failed: Type.Integer(),
  skipped: Type.Integer({ description: 'Devices and targets that got nothing.' }),
  delivered: Type.Integer({ description: 'Messages that devices reported as arrived.' }),
  tapped: Type.Integer({ description: 'Messages that were tapped.' }),
  users: Type.Integer({
    description: 'Users with a message, each once for each trigger; in the group holdout, users held out.'
  }),
  converted: Type.Integer({ description: 'Users who sent the conversion event in time, each once for each trigger.' }),
  conversion_value: Type.Number({ description: 'The sum of value_property over all conversion events.' })
}

export const Figures = Type.Object(figures)

export const StatsAnswer = Type.Object({
  totals: Type.Object(figures, { description: 'Users and conversions of the holdout are not in it.' }),
  series: Type.Array(
    Type.Object({ at: Type.String({ description: 'The begin of the hour or of the day, in UTC.' }), ...figures })
  ),
  groups: Type.Array(
    Type.Object({
      key: Type.Union([Type.String(), Type.Null()], {
        description: 'The variant, language or step; holdout; or null for devices without one.'
      }),
      totals: Type.Object(figures)
    }),
    { description: 'Empty unless by is given.' }
  )
})

const oneOf = <const Word extends string>(words: Word[], description: string) =>
  Type.Optional(Type.Unsafe<Word>({ type: 'string', enum: words, description }))

export const StatsQuery = Type.Object({
  from: Type.Optional(
    Type.String({
      description:
        'A date or a time in ISO 8601, in UTC unless it has an offset; rounded down to the interval. Default: 30 days, or 48 hours, before to.'
    })
  ),
  to: Type.Optional(Type.String({ description: 'The end, rounded up to the interval. Default: now.' })),
  interval: oneOf(['hour', 'day'], 'The length of each point of the series. Default: day.'),
  by: oneOf(['variant', 'language', 'step'], 'The groups.'),
  format: oneOf(['json', 'csv'], 'csv: a table, as with Accept: text/csv.')
})

const { by: _, ...ofProject } = StatsQuery.properties
export const ProjectStatsQuery = Type.Object(ofProject)

export const ProjectStatsAnswer = Type.Object({
  totals: Type.Object(figures, { description: 'Campaigns and direct sends together, without the holdout.' }),
  direct: Type.Object(figures, { description: 'Messages that were sent without a campaign.' }),
  series: StatsAnswer.properties.series,
  campaigns: Type.Array(
    Type.Object({
      campaign_id: Type.String(),
      name: Type.Union([Type.String(), Type.Null()], { description: 'Null if the campaign was deleted.' }),
      totals: Type.Object(figures)
    }),
    { description: 'Those with the most targets first; 100 at most.' }
  )
})
