interface Word {
  about: string
  example?: unknown
}

const uuid = '0198f3a4-7c1e-7b52-9d40-5a1f6e2c8b17'

/**
 * Descriptions of names that mean the same everywhere. The description in a declaration wins; these fill the gaps, so
 * that every field and every path parameter is explained.
 */
const glossary: Record<string, Word> = {
  id: { about: 'The id of this entry.', example: uuid },
  project_id: { about: 'The id of the project: 1 to 64 letters, digits, _ or -.', example: 'demo' },
  project_user_id: {
    about: "The project's own id of the user; percent-encoded where it stands in a path.",
    example: 'ana'
  },
  key_id: { about: 'The id of the key; not its text.' },
  token_id: { about: 'The id of the token; not its text.' },
  campaign_id: { about: 'The id of the campaign.', example: 'welcome' },
  device_id: { about: 'The id of the device.', example: 'ana-phone' },
  trigger_id: { about: 'The id of the trigger.', example: uuid },
  job_id: { about: 'The id of the job.' },
  member_id: { about: 'The id of the member: a person.' },
  session_id: { about: 'The id of the session.' },
  passkey_id: { about: 'The id of the passkey.' },
  email: { about: 'The address of a person.', example: 'ada@example.com' },
  webhook_id: { about: 'The id of the webhook.' },
  delivery_id: { about: 'The id of the call, which its receiver sees as webhook-id.' },
  message_id: { about: 'The id of the message.', example: uuid },
  topic: { about: 'The id of the topic: a to z, digits, _ and -.', example: 'offers' },
  gateway: { about: 'Whose gateway it is.', example: 'apns' },
  environment: { about: 'Which of the two environments of Apple.', example: 'production' },
  platform: { about: 'What kind of device it is.', example: 'IOS' },
  is_push_permission_granted: { about: 'Whether it may be sent push notifications.', example: true },
  model: { about: 'The model of the device.', example: 'iPhone17,1' },
  manufacturer: { about: 'Who made the device.', example: 'Apple' },
  os_name: { about: 'The operating system.', example: 'iOS' },
  os_version: { about: 'The version of the operating system.', example: '26.0' },
  app_name: { about: 'The name of the app.', example: 'Shop' },
  app_version: { about: 'The version of the app.', example: '2.1.0' },
  sdk_type: { about: 'The kind of SDK.', example: 'native' },
  sdk_version: { about: 'The version of the SDK.', example: '1.0.0' },
  ad_id: { about: 'The advertising id, where the user allows it.', example: null },
  locale_region: { about: 'The region, as a country code.', example: 'DE' },
  locale_language: { about: 'The language, as a code.', example: 'de' },
  timezone: { about: 'The time zone, by its IANA name.', example: 'Europe/Berlin' },
  within: { about: 'How far back, such as 15m, 24h or 30d.', example: '7d' },
  late: { about: 'How late it may be, such as 6h.', example: '6h' },
  delay: { about: 'How long it waits, such as 30m.', example: '30m' },
  wait: { about: 'How long it waits, such as 2d.', example: '2d' },
  reentry: { about: 'every, once, or a duration such as 7d.', example: 'once' },
  from: { about: 'When it begins.', example: '22:00' },
  to: { about: 'When it ends.', example: '08:00' },
  type: { about: 'What kind it is.', example: 'api_triggered' },
  title: { about: 'The title.', example: 'Hello' },
  body: { about: 'The text.', example: 'How are you?' },
  count: { about: 'How many.', example: 1 },
  targeted: { about: 'sent + failed + skipped + pending.', example: 3 },
  items: { about: 'The entries of this page, newest first.' },
  next_cursor: { about: 'Send it as cursor for the next page; null on the last.', example: null },
  properties: { about: 'Names with text, a number, a boolean or null each.' },
  name: { about: 'A name for people.', example: 'backend' },
  mode: { about: 'Whether messages go to the built-in simulator or to real gateways.' },
  plan: { about: 'The plan, which sets the campaign triggers per second.', example: 'standard' },
  limits: { about: 'Requests and triggers per second. 0: no limit.' },
  requests_per_second: { about: 'With secret keys and agents.', example: 1000 },
  client_requests_per_second: { about: 'With public keys.', example: 5000 },
  triggers_per_second: { about: 'Campaign triggers.', example: 1000 },
  retention: { about: 'How long history is kept.' },
  events_days: { about: 'Days that events are kept.', example: 365 },
  messages_days: { about: 'Days that messages are kept.', example: 90 },
  kind: { about: 'secret: for your backend. public: safe inside an app, and able to do less.' },
  key: { about: 'The whole key. It is shown this once.', example: 'svc_sk_…' },
  token: { about: 'The whole token. It is shown this once.', example: 'svc_at_…' },
  prefix: { about: 'How the text begins, to tell one from another.', example: 'svc_' },
  role: { about: 'admin may do everything, editor changes content, viewer reads.' },
  actor: { about: 'Who did it: a member, a token or a key, by id.', example: `member ${uuid}` },
  action: { about: 'What was done.', example: 'project.update' },
  target: { about: 'To what.', example: 'demo' },
  details: { about: 'More about it.' },
  error: { about: 'What was wrong, as a sentence.', example: 'project_user_id: must be a string' },
  code: { about: 'What was wrong, as a word for programs.', example: 'invalid_parameter' },
  imported: { about: 'Lines that were stored.', example: 2 },
  failed: { about: 'Lines that were not.', example: 0 },
  line: { about: 'The number of the line, from 1.', example: 3 },
  status: { about: 'The state, in a word.', example: 'ok' },
  msg: { about: 'The state, in a word.', example: 'ok' }
}

export function aboutName(name: string): string | undefined {
  if (isTime(name)) return 'When, in UTC.'
  return Object.hasOwn(glossary, name) ? glossary[name]!.about : undefined
}

export function exampleOfName(name: string): unknown {
  if (isTime(name)) return '2026-01-31T09:30:00.000Z'
  return Object.hasOwn(glossary, name) ? glossary[name]!.example : undefined
}

/** Every time in a request or a response has a name that ends in _at, or is called at. */
export const isTime = (name: string): boolean => /(^|_)at$/.test(name)

export const tagAbout: Record<string, string> = {
  Users: 'The people of a project and what is known about each.',
  Devices: 'Where a user can be reached.',
  Events: 'What users did.',
  'Browser client': 'Scripts for web pages and their service workers.',
  Messages: 'Push notifications, sent now.',
  'Live Activities': 'Live Activities, started on phones from afar.',
  Campaigns: 'Messages with an audience, triggered by a call.',
  Triggers: 'What became of a campaign that was triggered: watch it, stop it, ask why.',
  Agents: 'The A2A and MCP surfaces for other agents.',
  Projects: 'Tenants of this installation. Nothing passes from one to another.',
  Keys: 'What opens /api/v1 for a project.',
  Tokens: 'What opens /manage/v1.',
  Members: 'People who sign in to the console, with their roles.',
  Sessions: 'Signed-in browsers.',
  Account: 'The account of the member that calls.',
  Gateways: 'The credentials for Apple, Google and browsers.',
  Webhooks: 'Calls to you when something happens.',
  Simulator: 'Phones and gateways that are not real, to try things out.',
  Audit: 'A record of every change.',
  Nodes: 'The processes of this installation.',
  Health: 'For load balancers, orchestrators and monitoring.',
  Documentation: 'This description, for people and for programs.'
}
