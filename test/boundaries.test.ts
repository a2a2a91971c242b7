import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { describe, it } from 'node:test'

const root = resolve(import.meta.dirname, '..')
const src = resolve(root, 'src')

// A capability may not import one further right. A new capability needs a place in this line.
const order = [
  'client',
  'platform',
  'simulator',
  'projects',
  'members',
  'users',
  'devices',
  'events',
  'intake',
  'preferences',
  'sdk',
  'segments',
  'templates',
  'webhooks',
  'gateways',
  'channels',
  'messages',
  'activity-channels',
  'campaigns',
  'triggers',
  'schedules',
  'journeys',
  'stats',
  'oversight',
  'a2a',
  'mcp',
  'resuming',
  'manage',
  'console'
]
/** Folders outside the line that may import all of it. */
const outside = new Set(['cli'])

// The page runs in browsers and is built from packages of its own; the service does not import it.
const sources = globSync('**/*.ts', { cwd: src }).filter(
  (file) => !file.endsWith('.test.ts') && !file.startsWith('console/page/')
)
// A statement at the start of a line, or a call: SQL has its own `from '…'`.
const importing = /^(?:import|export)\b(?:[^;'"`=()]*?\bfrom)?\s*'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm
const imports = (file: string) =>
  [...readFileSync(resolve(src, file), 'utf8').matchAll(importing)].map(([, named, called]) => (named ?? called)!)

/** The path in `src` of a file that another file imports. */
const resolved = (file: string, target: string) => relative(src, resolve(src, dirname(file), target))
const source = (file: string) => readFileSync(resolve(src, file), 'utf8')
const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '')
const capability = (file: string) => (file.includes('/') ? file.split('/')[0]! : file)

function offences(): string[] {
  const found: string[] = []
  for (const file of sources) {
    const [home, ...inside] = file.split('/')
    if (inside.length === 0 || outside.has(home!)) continue // main.ts, app.ts and the like, and cli/
    if (!order.includes(home!)) found.push(`${home}/ is not in the line of capabilities`)
    for (const target of imports(file).filter((name) => name.startsWith('.'))) {
      const [there, ...rest] = resolved(file, target).split('/')
      if (there === home) continue
      if (!order.includes(there!)) found.push(`${file} reaches out to ${there}`)
      else if (order.indexOf(there!) > order.indexOf(home!)) found.push(`${file} must not know ${there}`)
      else if (there !== 'platform' && rest.join('/') !== `${there}.ts`)
        found.push(`${file} reaches into ${there}/${rest.join('/')}`)
      if (home === 'simulator' && there !== 'platform') found.push(`${file}: the simulator knows only the platform`)
    }
  }
  return found
}

/** Every chain of imports that comes back to the file where it begins. */
function cycles(): string[] {
  const pages = globSync('console/page/**/*.{ts,tsx}', { cwd: src })
  const known = new Set([...sources, ...pages])
  const graph = new Map(
    [...known].map((file) => [
      file,
      imports(file)
        .filter((name) => name.startsWith('.'))
        .map((name) => resolved(file, name))
        .filter((target) => known.has(target))
    ])
  )
  const found: string[] = []
  const done = new Set<string>()
  const visit = (file: string, path: string[]): void => {
    if (path.includes(file)) found.push([...path.slice(path.indexOf(file)), file].join(' → '))
    if (path.includes(file) || done.has(file)) return
    for (const target of graph.get(file)!) visit(target, [...path, file])
    done.add(file)
  }
  for (const file of graph.keys()) visit(file, [])
  return found
}

const owners: Record<string, string> = {
  a2a_push_configs: 'a2a',
  a2a_tasks: 'a2a',
  api_keys: 'projects',
  approvals: 'oversight',
  audit_log: 'projects',
  campaign_stats: 'stats',
  campaign_versions: 'campaigns',
  campaigns: 'campaigns',
  confirmations: 'oversight',
  consents: 'users',
  conversions: 'stats',
  dead_jobs: 'platform',
  devices: 'devices',
  erasure_keys: 'manage',
  erasures: 'manage',
  event_queue: 'events',
  event_receipts: 'events',
  events: 'events',
  former_names: 'projects',
  gateway_credentials: 'gateways',
  idempotency_keys: 'platform',
  identity_secrets: 'projects',
  jobs: 'platform',
  live_activity_changes: 'activity-channels',
  live_activity_channels: 'activity-channels',
  journeys: 'journeys',
  live_activity_tokens: 'devices',
  member_identities: 'members',
  member_links: 'members',
  members: 'members',
  memberships: 'members',
  message_hours: 'messages',
  message_minutes: 'messages',
  messages: 'messages',
  nodes: 'platform',
  passkeys: 'members',
  projects: 'projects',
  provider_tokens: 'gateways',
  push_tokens: 'devices',
  recipient_budgets: 'projects',
  recipient_reservations: 'projects',
  saved_segments: 'segments',
  segment_sizes: 'segments',
  sessions: 'projects',
  settings: 'platform',
  simulator_activities: 'simulator',
  simulator_channels: 'simulator',
  simulator_dead_tokens: 'simulator',
  simulator_inbox: 'simulator',
  simulator_phones: 'simulator',
  simulator_subscriptions: 'simulator',
  schedules: 'schedules',
  simulators: 'simulator',
  tokens: 'projects',
  topics: 'preferences',
  trigger_chunks: 'triggers',
  trigger_skips: 'triggers',
  triggers: 'triggers',
  indexed_properties: 'users',
  installation_audit: 'projects',
  indexed_values: 'users',
  used_challenges: 'members',
  users: 'users',
  wanted_events: 'events',
  webhook_attempts: 'webhooks',
  webhook_calls: 'webhooks',
  webhook_events: 'webhooks',
  webhook_secrets: 'webhooks',
  webhooks: 'webhooks'
}

const joinedAudience = 'an audience is one join of users, devices and tokens; reading them one by one costs three trips'
const watched = 'one statement a second reads a few rows of each kind that a page of the console shows'
const erased =
  'the erasure of a user removes it from every copy that has no foreign key to it, and counts what goes with it'
/** Uses of tables that belong to another capability, and why. Any capability may lock the row of its project. */
const allowed: Record<string, string> = {
  'segments reads devices': 'a condition on devices is a subquery of the compiled segment',
  'segments reads events': 'a condition on events is a subquery of the compiled segment',
  'segments reads users':
    'a compiled segment is evaluated on users joined with their devices, a batch of users at a time',
  'segments reads indexed_values': 'a size is counted over the users whom an index names',
  'segments reads push_tokens': 'a preview counts reachable devices in the statement that evaluates the segment',
  'segments reads live_activity_tokens':
    'a preview counts reachable devices in the statement that evaluates the segment',
  'members reads sessions': 'the list of sessions names their members and tokens in one statement',
  'members reads tokens': 'the list of sessions names their members and tokens in one statement',
  'devices reads users': 'a search finds devices by a part of the id of their user',
  'channels reads live_activity_channels': 'a start names the channel that its activity listens to',
  'campaigns reads users': joinedAudience,
  'campaigns reads devices': joinedAudience,
  'campaigns reads push_tokens': joinedAudience,
  'campaigns reads messages': 'the limit of messages per user counts those of the same campaign',
  'campaigns reads triggers': 'totals of a campaign sum the counters of its triggers',
  'triggers reads campaigns':
    'a trigger is written only while its campaign is active, and turns are compared with its plan, each in one statement',
  'stats reads campaigns': 'the goals of campaigns that react to an event are one join with their names and versions',
  'stats reads campaign_versions':
    'the goals of campaigns that react to an event are one join with their names and versions',
  'stats reads wanted_events':
    'the goals of campaigns that react to an event are one join with their names and versions',
  'stats reads messages': 'the last message before an event is found for many events at once, by index',
  'stats reads trigger_skips': 'the holdout is found in the statement that finds the last message',
  'stats reads triggers': 'a conversion counts on its trigger and on its campaign in one statement',
  'stats writes triggers': 'a conversion counts on its trigger and on its campaign in one statement',
  'stats reads users': 'a conversion is counted in the statement that locks its user against deletion',
  'triggers writes campaign_stats':
    'results of a campaign are counted in the statement that counts on its triggers, so that both always agree',
  'triggers writes campaigns':
    'deleting old triggers adds their counters to the totals of the campaign, and a cancel frees its turns at the throttle',
  'triggers reads devices': joinedAudience,
  'triggers reads messages': 'an explanation names the messages of a user',
  'journeys reads campaigns': 'the statement that finds active campaigns for events decides whether they run',
  'journeys reads wanted_events': 'campaigns are found by the names of events in one statement',
  'journeys reads events': 'an event that arrives late may have been followed by one that ends its journey',
  'journeys reads devices': 'anonymous users and their devices are found in one statement',
  'journeys reads users': 'a journey begins only while its user exists',
  'messages reads users': 'a message is written only while its user exists: the row is locked in the same statement',
  'manage reads a2a_tasks': watched,
  'manage reads approvals': watched,
  'manage reads audit_log': watched,
  'manage reads devices': watched,
  'manage reads events': watched,
  'manage reads message_minutes': watched,
  'manage reads messages': watched,
  'manage reads simulators': watched,
  'manage reads triggers': watched,
  'manage reads users': watched,
  'manage reads webhook_calls': watched,
  'manage reads confirmations': erased,
  'manage reads consents': erased,
  'manage reads conversions': erased,
  'manage reads idempotency_keys': erased,
  'manage reads indexed_values': erased,
  'manage reads journeys': erased,
  'manage reads live_activity_changes': erased,
  'manage reads live_activity_channels': erased,
  'manage reads live_activity_tokens': erased,
  'manage reads push_tokens': erased,
  'manage reads saved_segments': erased,
  'manage reads simulator_inbox': erased,
  'manage reads campaign_versions': erased,
  'manage reads trigger_skips': erased,
  'manage reads webhook_events': erased,
  'manage writes a2a_tasks': erased,
  'manage writes approvals': erased,
  'manage writes confirmations': erased,
  'manage writes idempotency_keys': erased,
  'manage writes live_activity_changes': erased,
  'manage writes simulator_activities': erased,
  'manage writes simulator_inbox': erased,
  'manage writes simulator_phones': erased,
  'manage writes simulator_subscriptions': erased,
  'manage writes trigger_skips': erased,
  'manage writes triggers': erased,
  'manage writes webhook_attempts': erased,
  'manage writes webhook_calls': erased,
  'manage writes webhook_events': erased,
  'cli reads nodes': 'upgrade --check names nodes of older code, on the schema of any version',
  'cli reads settings': 'doctor checks the master key without a service'
}

const tables = new Set(
  globSync('migrations/*.sql', { cwd: root })
    .flatMap((file) => [...readFileSync(resolve(root, file), 'utf8').matchAll(/\bcreate table (\w+)/g)])
    .map(([, name]) => name!)
)
const naming = new RegExp(`\\b(from|join|update|into|using)\\s+(${[...tables].join('|')})\\b(?!['.-])`, 'g')

/** The tables that the SQL of a file names: 'users reads devices'. */
function tableUses(file: string): string[] {
  const text = withoutComments(source(file))
  return [...text.matchAll(naming)].map(({ 1: verb, 2: table, index }) => {
    const writes = verb === 'into' || verb === 'update' || /\bdelete\s+$/.test(text.slice(0, index))
    return `${capability(file)} ${writes ? 'writes' : 'reads'} ${table}`
  })
}

describe('the structure of src', () => {
  it('imports run one way, and enter a capability only through its front file', () => {
    assert.deepEqual(offences(), [])
  })

  it('no file imports itself by way of others, not even for a type', () => {
    assert.deepEqual(cycles(), [])
  })

  it('types of responses come from schemas alone, so that the page of the console can import them', () => {
    const reached = new Set(['wire.ts'])
    for (const file of reached)
      for (const name of imports(file).filter((name) => name.startsWith('.'))) reached.add(resolved(file, name))
    const packages = [...reached].flatMap(imports).filter((name) => !name.startsWith('.'))
    assert.deepEqual([...new Set(packages)], ['@sinclair/typebox'])
    assert.ok(reached.has('users/schemas.ts'))
  })

  it('a folder has at most 20 files', () => {
    const folders = Map.groupBy(globSync('**/*.{ts,tsx}', { cwd: src }), (file) => dirname(file))
    const crowded = [...folders].filter(([, files]) => files.length > 20)
    assert.deepEqual(
      crowded.map(([folder, files]) => `${folder}: ${files.length}`),
      []
    )
  })

  it('statements stand in files named store.ts', () => {
    const others = sources.filter(
      (file) => !file.endsWith('store.ts') && /\bstatement\(/.test(withoutComments(source(file)))
    )
    assert.deepEqual(
      others.filter((file) => file !== 'platform/db/statement.ts'),
      []
    )
  })

  it('each table belongs to one capability, and others read it only for a stated reason', () => {
    assert.deepEqual(Object.keys(owners).sort(), [...tables].sort())
    const uses = new Set(sources.flatMap(tableUses))
    const foreign = [...uses].filter((use) => {
      const [by, verb, table] = use.split(' ') as [string, string, string]
      return owners[table] !== by && !(verb === 'reads' && table === 'projects')
    })
    assert.deepEqual(
      foreign.filter((use) => !(use in allowed)),
      [],
      'add a reason to the list, or ask the owner'
    )
    assert.deepEqual(
      Object.keys(allowed).filter((use) => !uses.has(use)),
      [],
      'no longer needed'
    )
  })

  it('files stay short enough to be read: 400 lines at the very most', () => {
    const long = globSync(['src/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts', 'scripts/**/*.ts'], { cwd: root })
      .map((file) => [file, readFileSync(resolve(root, file), 'utf8')] as const)
      .filter(([, text]) => !text.startsWith('// Printed from '))
      .map(([file, text]) => [file, text.split('\n').length] as const)
      .filter(([, lines]) => lines > 400)
    assert.deepEqual(long, [])
  })

  it('the client imports nothing but its own files, so that browsers and other programs can load it', () => {
    const own = sources.filter((file) => file.startsWith('client/'))
    assert.ok(own.length > 5)
    for (const file of own) for (const name of imports(file)) assert.match(name, /^\.\/[\w-]+\.ts$/, file)
  })

  it('every package that is imported is a declared dependency, pinned exactly', () => {
    const manifest = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8'))
    const used = new Set(
      sources
        .flatMap(imports)
        .filter((name) => !name.startsWith('.') && !name.startsWith('node:'))
        .map((name) =>
          name
            .split('/')
            .slice(0, name.startsWith('@') ? 2 : 1)
            .join('/')
        )
    )
    assert.deepEqual(
      [...used].filter((name) => !(name in manifest.dependencies) && !(name in manifest.optionalDependencies)),
      []
    )
    assert.ok(used.has('fastify') && used.has('pg'))
    const versions = Object.values({
      ...manifest.dependencies,
      ...manifest.devDependencies,
      ...manifest.optionalDependencies,
      ...manifest.overrides
    })
    assert.deepEqual(
      versions.filter((version) => !/^(npm:@?[\w/-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(String(version))),
      []
    )
    assert.ok(Object.keys(manifest.dependencies).length <= 32, 'a dependency is a decision')
  })

  it('the lock file names no registry', () => {
    assert.ok(!readFileSync(resolve(root, 'package-lock.json'), 'utf8').includes('"resolved": "http'))
  })
})
