import { durationPattern } from '../../platform/duration.ts'
import { countOperators, fixedAttributes, segmentLimits as limits, operators } from '../../segments/segments.ts'
import { CampaignSchema } from './schema.ts'

type Schema = Record<string, unknown>

const ref = (name: string) => ({ $ref: `#/$defs/${name}` })
const object = (properties: Schema, required: string[], description: string): Schema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
  description
})
const group = (word: string, description: string) =>
  object({ [word]: { type: 'array', items: ref('segment'), maxItems: limits.conditions } }, [word], description)

const scalar = { type: ['string', 'number', 'boolean', 'null'] }
const value = {
  anyOf: [scalar, { type: 'array', items: scalar, maxItems: limits.listLength }],
  description:
    'A list for in and not_in, a duration for within_last, no value for exists and not_exists. {{ trigger.x }} refers to the trigger.'
}

function condition(attribute: Schema, description: string): Schema {
  const withoutValue = { operator: { enum: ['exists', 'not_exists'] } }
  return {
    ...object({ attribute, operator: { enum: [...operators] }, value }, ['attribute', 'operator'], description),
    if: { properties: withoutValue },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    then: { properties: { value: false } },
    else: { required: ['value'] }
  }
}

const definitions: Schema = {
  segment: {
    anyOf: [ref('all'), ref('any'), ref('not'), ref('saved'), ref('attribute'), ref('event')],
    description: `Groups and conditions: ${limits.depth} levels and ${limits.conditions} conditions at most.`
  },
  all: group('all', 'All of these hold. An empty list matches everyone.'),
  any: group('any', 'At least one of these holds. An empty list matches no one.'),
  not: object({ not: ref('segment') }, ['not'], 'This does not hold.'),
  saved: object({ ref: { type: 'string', minLength: 1, maxLength: 255 } }, ['ref'], 'A saved segment, by its id.'),
  attribute: condition(
    {
      anyOf: [{ enum: fixedAttributes }, { type: 'string', pattern: '^user\\..' }],
      description: 'user.<property>, user.properties.<property>, or one of the listed names.'
    },
    'A condition on a user or a device.'
  ),
  event: object(
    {
      event: { type: 'string', minLength: 1, maxLength: limits.nameLength },
      operator: { enum: [...countOperators] },
      count: { type: 'integer', minimum: 0, maximum: limits.count },
      within: {
        type: 'string',
        pattern: durationPattern,
        description: 'Counts events of the last 15m, 24h, 30d.'
      },
      where: {
        type: 'array',
        items: ref('where'),
        maxItems: limits.conditions,
        description: 'Conditions on each event; all must hold.'
      }
    },
    ['event', 'operator', 'count'],
    'A condition on the number of events.'
  ),
  where: condition(
    { type: 'string', pattern: '^event\\..', description: 'event.<property>' },
    'A condition on an event.'
  )
}

interface ObjectSchema extends Schema {
  properties: Record<string, Schema>
  required: string[]
}

/** Fields with a default are not required. */
const lenient = (schema: ObjectSchema): Schema => ({
  ...schema,
  required: schema.required.filter((name) => !Object.hasOwn(schema.properties[name]!, 'default'))
})

/** The JSON Schema of a campaign file, for editors and other programs. */
export function campaignSchema(): Schema {
  // TypeBox marks its schemas with symbols, which JSON leaves out.
  const schema = JSON.parse(JSON.stringify(CampaignSchema)) as ObjectSchema
  const { type: _, ...segment } = schema.properties.segment!
  schema.properties.segment = { ...segment, anyOf: [ref('segment'), { type: 'object', maxProperties: 0 }] }
  schema.properties.quiet_hours = lenient(schema.properties.quiet_hours as ObjectSchema)
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Tidings campaign',
    ...lenient(schema),
    anyOf: ['message', 'variants', 'steps', 'live_activity'].map((name) => ({ required: [name] })),
    $defs: definitions
  }
}

/** The text of docs/reference/campaign.schema.json. */
export const printCampaignSchema = () => `${JSON.stringify(campaignSchema(), null, 2)}\n`
