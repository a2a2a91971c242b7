import { type Static, type TInteger, type TSchema, Type } from '@sinclair/typebox'
import { durationPattern, durationRule } from '../platform/duration.ts'
import { Overlap } from '../platform/http/overlap.ts'
import { printable, saying } from '../platform/http/schema.ts'

// Schemas of the requests and responses for projects, keys, tokens, nodes and jobs.

const PerSecond = Type.Integer({ minimum: 0, maximum: 1_000_000, description: '0: no limit.' })
const Days = Type.Integer({ minimum: 1, maximum: 36_500 })
const Name = Type.String({ minLength: 1, maxLength: 200, ...printable })
const Mode = Type.Union([Type.Literal('simulator'), Type.Literal('live')])
export const Role = Type.Union([Type.Literal('admin'), Type.Literal('editor'), Type.Literal('viewer')])
export const Kind = Type.Union([Type.Literal('secret'), Type.Literal('public')])
const ProjectIdText = Type.String(saying('must be 1 to 64 letters, digits, _ and -', '^[A-Za-z0-9_-]{1,64}$'))

const limits = {
  requests_per_second: PerSecond,
  client_requests_per_second: PerSecond,
  triggers_per_second: PerSecond
}
const retention = { events_days: Days, messages_days: Days }

// Not by anyOf: its refusals would list the faults of both sides.
const orNull = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Unsafe<Static<Schema> | null>({ ...schema, type: [schema.type, 'null'], description })

/** Null removes the project's own value: the plan and the defaults apply again. */
const orDefault = ({ description = '', ...schema }: TInteger) =>
  Type.Optional(
    Type.Unsafe<number | null>({
      ...schema,
      type: ['integer', 'null'],
      description: `${description} null: what the plan or the default says.`.trim()
    })
  )
const PerSecondOrDefault = orDefault(PerSecond)
const DaysOrDefault = orDefault(Days)
const changes = {
  mode: Type.Optional(Mode),
  plan: Type.Optional(Type.String()),
  limits: Type.Optional(
    Type.Object({
      requests_per_second: PerSecondOrDefault,
      client_requests_per_second: PerSecondOrDefault,
      triggers_per_second: PerSecondOrDefault
    })
  ),
  retention: Type.Optional(Type.Object({ events_days: DaysOrDefault, messages_days: DaysOrDefault }))
}
const Within = Type.String({ ...saying(durationRule, durationPattern), description: '15m, 24h, 30d.' })
export const MessageLimitSchema = Type.Object({
  count: Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Messages to one user.' }),
  within: Within,
  topic: Type.Optional(Type.String({ description: 'Only messages of this topic. Absent: of all campaigns.' }))
})
const timeOfDay = saying('must be a time such as 08:30 or 22:00', '^([01][0-9]|2[0-3]):[0-5][0-9]$')
const ProjectHoursSchema = Type.Object({
  from: Type.String({ ...timeOfDay, description: 'Local time, 22:00.' }),
  to: Type.String({ ...timeOfDay, description: 'Local time; on the next day if it is before from.' }),
  timezone: Type.String({
    default: 'device',
    description: 'device, user (the property timezone, else the device, else UTC) or an IANA name.'
  }),
  action: Type.Unsafe<'skip' | 'hold'>({
    type: 'string',
    enum: ['skip', 'hold'],
    default: 'hold',
    description: 'skip: the message is not sent. hold: it is sent when the quiet hours are over.'
  })
})

const hours = ProjectHoursSchema.properties
/** Rules over all campaigns of a project, and whether apps must prove who their user is. */
const rules = {
  message_limits: Type.Optional(
    orNull(
      Type.Array(MessageLimitSchema, { maxItems: 10 }),
      'The most messages to one user, over all campaigns or those of a topic. Transactional messages pass. null: none.'
    )
  ),
  quiet_hours: Type.Optional(
    orNull(
      Type.Object({
        from: hours.from,
        to: hours.to,
        timezone: Type.Optional(hours.timezone),
        action: Type.Optional(hours.action)
      }),
      "Over all campaigns, beside a campaign's own. Transactional messages pass. null: none."
    )
  ),
  identity_verification: Type.Optional(
    Type.Boolean({ description: 'true: apps prove who their user is, by the header X-Service-User-Token.' })
  ),
  intake: Type.Optional(
    Type.Boolean({ description: 'true: analytics SDKs may send to /v1, with a public key as their write key.' })
  )
}
export const CreateProject = Type.Object({ id: Type.Optional(ProjectIdText), name: Name, ...changes })
export const ChangeProject = Type.Object({ name: Type.Optional(Name), ...changes, ...rules })

/** Unknown fields are ignored: they are neither stored with the project nor written into the audit log. */
export function knownFields<Body extends Static<typeof ChangeProject>>(body: Body): Body {
  const picked = only(body, Object.keys({ ...CreateProject.properties, ...ChangeProject.properties }))
  if (picked.limits) picked.limits = only(picked.limits, Object.keys(limits))
  if (picked.retention) picked.retention = only(picked.retention, Object.keys(retention))
  return picked
}

const only = <Fields extends object>(fields: Fields, names: string[]) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name))) as Fields

export const ProjectAnswer = Type.Object({
  id: Type.String(),
  name: Type.String(),
  mode: Mode,
  plan: Type.String(),
  limits: Type.Object(limits),
  retention: Type.Object(retention),
  created_at: Type.String(),
  paused_at: Type.Union([Type.String(), Type.Null()], {
    description: 'When the project was paused; null while it runs.'
  }),
  message_limits: Type.Array(MessageLimitSchema, {
    description: 'The most messages to one user, over all campaigns. Transactional messages pass.'
  }),
  quiet_hours: Type.Union([ProjectHoursSchema, Type.Null()], {
    description: "Over all campaigns, beside a campaign's own. Transactional messages pass. null: none."
  }),
  identity_verification: Type.Boolean({
    description: 'true: apps prove who their user is, by the header X-Service-User-Token.'
  }),
  intake: Type.Boolean({ description: 'true: analytics SDKs may send to /v1, with a public key as their write key.' })
})
const ExpiresAt = Type.Union([Type.String(), Type.Null()], { description: 'When it stops working; null: never.' })
const used = { created_at: Type.String(), last_used_at: Type.Union([Type.String(), Type.Null()]) }
const Recipients = (description: string) => orNull(Type.Integer({ minimum: 0 }), description)
const policyFields = {
  skills: orNull(
    Type.Array(Type.String()),
    'The skills that the key may use, on every surface. On /api/v1 each opens the routes that do the same, and all others are refused. null: all.'
  ),
  max_recipients: Recipients('Distinct users that one action may reach. null: no limit.'),
  max_recipients_per_day: Recipients('Recipients of all actions within any 24 hours. null: no limit.'),
  approval_above: Recipients('An action that reaches more users than this waits for a person. null: none does.'),
  confirm_broadcasts: Type.Boolean({ description: 'A broadcast needs the confirmationId of a preview.' }),
  dry_run: Type.Boolean({ description: 'The key reads and previews; it changes and sends nothing.' }),
  quiet_hours: orNull(
    Type.Object({
      from: Type.String({ description: 'Local time, 22:00.' }),
      to: Type.String({ description: 'Local time; on the next day if it is before from.' }),
      timezone: Type.String({ description: 'The IANA name of a time zone; UTC by default.' })
    }),
    'Hours in which the key sends nothing. null: none.'
  )
}
export const PolicyAnswer = Type.Object(policyFields)
const PolicyOrNull = orNull(PolicyAnswer, 'What the holder of the key may do; null: everything that the key opens.')
/** The handler checks its fields, because it names all faults and refuses unknown ones. */
const givenPolicy = (absent: string) =>
  Type.Optional(
    Type.Unsafe<Partial<Static<typeof PolicyAnswer>> | null>({
      type: ['object', 'null'],
      description: `What an agent may do with a secret key, with the fields that the response shows. A field that is left out ${absent}; null: no policy.`
    })
  )
export const KeyAnswer = Type.Object({
  id: Type.String(),
  kind: Kind,
  name: Type.String(),
  prefix: Type.String(),
  ...used,
  expires_at: ExpiresAt,
  policy: PolicyOrNull
})
const Expiry = Type.Optional(
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'When the key stops working: RFC 3339 with Z or an offset, in the future. Default: never.'
  })
)
export const CreateKey = Type.Object({
  kind: Kind,
  name: Name,
  expires_at: Expiry,
  policy: givenPolicy('sets no limit')
})
export const ChangeKey = Type.Object({ policy: givenPolicy('keeps its value, and null takes its limit away') })
export const CreatedKey = Type.Object({
  id: Type.String(),
  kind: Kind,
  name: Type.String(),
  key: Type.String(),
  prefix: Type.String(),
  created_at: Type.String(),
  expires_at: ExpiresAt,
  policy: PolicyOrNull
})
export const RotateKey = Type.Object({ overlap: Overlap, expires_at: Expiry })
export const IdentitySecretAnswer = Type.Object({
  secret: Type.String({ description: 'Signs tokens with HS256. It is shown this once.' }),
  previous_until: Type.Union([Type.String(), Type.Null()], {
    description: 'Until when tokens of the previous secret are valid; null: there was none.'
  })
})
export const RotatedKey = Type.Composite([
  CreatedKey,
  Type.Object({
    replaces: Type.Object(
      { id: Type.String(), expires_at: Type.String({ description: 'Until when the old key works.' }) },
      { description: 'The key that was rotated.' }
    )
  })
])
export const CreateToken = Type.Object({ name: Name, role: Role, project_id: Type.Optional(ProjectIdText) })
export const TokenAnswer = Type.Object({
  id: Type.String(),
  name: Type.String(),
  role: Role,
  project_id: Type.Union([Type.String(), Type.Null()]),
  prefix: Type.String(),
  ...used
})
export const CreatedToken = Type.Object({
  id: Type.String(),
  name: Type.String(),
  role: Role,
  project_id: Type.Union([Type.String(), Type.Null()]),
  token: Type.String(),
  prefix: Type.String(),
  created_at: Type.String()
})
const ActorName = Type.Union([Type.String(), Type.Null()], {
  description: 'The name of the key, token or person, also of a deleted one; null if it is not known any more.'
})
export const AuditAnswer = Type.Object({
  id: Type.String(),
  at: Type.String(),
  actor: Type.String(),
  actor_name: ActorName,
  actor_role: Type.Union([Type.String(), Type.Null()], { description: 'Of a token or a person; null for a key.' }),
  action: Type.String(),
  phrase: Type.String({
    description:
      'The action in words. The sentence is actor_name, phrase, target_name: "Ada activated the campaign Welcome".'
  }),
  target: Type.String(),
  target_name: Type.String({ description: 'The name that the target had then; its id if it has none.' }),
  details: Type.Record(Type.String(), Type.Unknown(), {
    description: 'More about it. `before` has the former values of the changed fields.'
  })
})
export const ActorAnswer = Type.Object({
  actor: Type.String(),
  name: ActorName,
  role: Type.Union([Type.String(), Type.Null()])
})

export const NodeAnswer = Type.Object({
  id: Type.String(),
  role: Type.Union([Type.Literal('all'), Type.Literal('api'), Type.Literal('worker')]),
  host: Type.Optional(Type.String()),
  pid: Type.Optional(Type.Integer()),
  version: Type.String(),
  started_at: Type.String(),
  seen_at: Type.String()
})

export const InstallationPauseAnswer = Type.Object(
  {
    since: Type.String({ description: 'When the backup was restored.' }),
    backup_made_at: Type.String({ description: 'The moment of the backup.' }),
    discarding: Type.Union([Type.Literal('due'), Type.Literal('all'), Type.Null()], {
      description: 'What is being canceled now, by `tidings resume --discard`; null: nothing.'
    })
  },
  { description: 'The installation was restored from a backup and is paused until `tidings resume`.' }
)

export const DeadJobAnswer = Type.Object({
  id: Type.String(),
  name: Type.String({ description: 'The kind of job.' }),
  project_id: Type.Union([Type.String(), Type.Null()], {
    description: 'Its project; null for a job of the installation.'
  }),
  attempts: Type.Integer({ description: 'How often it was attempted.' }),
  error: Type.String({ description: 'The error of the last attempt.' }),
  created_at: Type.String({ format: 'date-time' }),
  died_at: Type.String({ format: 'date-time', description: 'When the last attempt failed.' })
})
