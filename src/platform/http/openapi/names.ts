/** Fastify's pattern as OpenAPI writes it: /users/:id → /users/{id}, and a doubled colon is a literal one. */
export const pathTemplate = (pattern: string): string =>
  pattern.replace(/::|:(\w+)(?:\((?:[^()]|\([^()]*\))*\))?|\*/g, (whole, name: string | undefined) =>
    whole === '::' ? ':' : `{${name ?? 'path'}}`
  )

export const pathParameters = (template: string): string[] =>
  [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)

/** The order of the docs: endpoints for backends first, then those for administrators, then those for machines. */
const tagOrder = [
  'Users',
  'Devices',
  'Events',
  'Browser client',
  'Messages',
  'Live Activities',
  'Campaigns',
  'Triggers',
  'Agents',
  'Approvals',
  'Projects',
  'Keys',
  'Tokens',
  'Members',
  'Sessions',
  'Account',
  'Gateways',
  'Webhooks',
  'Simulator',
  'Audit',
  'Nodes',
  'Health',
  'Documentation'
]

const tagBySegment: Record<string, string> = {
  health: 'Health',
  healthz: 'Health',
  version: 'Health',
  readyz: 'Health',
  metrics: 'Health',
  'openapi.json': 'Documentation',
  'openapi-complete.json': 'Documentation',
  docs: 'Documentation',
  sdk: 'Browser client',
  'indexed-properties': 'Users',
  'web-push': 'Devices',
  a2a: 'Agents',
  mcp: 'Agents',
  '.well-known': 'Agents',
  'webhook-secret': 'Webhooks',
  'webhook-deliveries': 'Webhooks'
}

/** The resource of a path: its first part below the surface and, in the management API, below the project. */
export function tagOf(template: string): string {
  const [path] = split(template)
  const steps = stepsOf(path)
  const inProject = steps[0] === 'projects' && steps.length > 2
  const name = (inProject ? steps[2] : steps[0]) ?? ''
  return tagBySegment[name] ?? words(name).map(capital).join(' ')
}

/** Tags that are not listed stand before the last two. */
export function inTagOrder(tags: Iterable<string>): string[] {
  const place = (tag: string) => (tagOrder.includes(tag) ? tagOrder.indexOf(tag) : tagOrder.length - 2.5)
  return [...new Set(tags)].sort((one, two) => place(one) - place(two) || one.localeCompare(two))
}

const verbs: Record<string, string> = { POST: 'create', GET: 'get', PUT: 'replace', PATCH: 'update', DELETE: 'delete' }

/**
 * As in createUser, listProjectKeys, triggerCampaign. Client generators turn these into method names, so they do not
 * change once released. A route may declare a better one.
 */
export function operationId(method: string, template: string, isList: boolean): string {
  const [path, action] = split(template)
  const steps = stepsOf(path)
  const nouns = steps.flatMap((step, index) => {
    if (step.startsWith('{')) return []
    const isOne = steps[index + 1]?.startsWith('{') || (index === steps.length - 1 && method === 'POST' && !action)
    return words(isOne ? singular(step) : step).map(capital)
  })
  const last = steps.at(-1) ?? ''
  const creates = method !== 'POST' || singular(last) !== last
  const verb = action ?? (isList ? 'list' : creates ? verbs[method]! : 'post')
  return words(verb)
    .map((word, index) => (index === 0 ? word : capital(word)))
    .concat(nouns)
    .join('')
}

/** The path and, if it ends in one, the action after its colon. */
function split(template: string): [path: string, action: string | undefined] {
  const match = /^(.*?)(?::([\w-]+))?$/.exec(template)
  return [match?.[1] ?? template, match?.[2]]
}

const stepsOf = (path: string): string[] =>
  path
    .replace(/^\/(?:api|manage)\/v1(?=\/)/, '')
    .split('/')
    .filter(Boolean)
const words = (name: string): string[] => name.split(/[^A-Za-z0-9]+/).filter(Boolean)
const capital = (word: string): string => word[0]!.toUpperCase() + word.slice(1)
const singular = (name: string): string => name.replace(/ies$/, 'y').replace(/(?<![su])s$/, '')
