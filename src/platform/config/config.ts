import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { OperatorError } from '../errors.ts'
import { parseTrustProxy } from '../http/trust-proxy.ts'
import { isLocalHost } from '../net/addresses.ts'
import { otelSettings } from './otel-settings.ts'
import {
  credential,
  databaseUrl,
  flag,
  groupRoles,
  masterKey,
  oneOf,
  origins,
  plainUrl,
  plans,
  projectId,
  replicaUrl,
  type Setting,
  setting,
  signingKey,
  text,
  url,
  whole
} from './values.ts'

export type { GroupRole } from './values.ts'

/**
 * Every setting of the service. The names are the environment variables; docs/reference/config.md is printed from here.
 */
export const settings = {
  HOST: setting(text, 'Address to listen on. Use 0.0.0.0 or :: to accept connections from other machines.', {
    fallback: '127.0.0.1'
  }),
  PORT: setting(whole(0, 65535), 'Port to listen on. 0 picks a free one.', { fallback: '8080' }),
  DATA_DIR: setting(
    (value) => resolve(value),
    'Folder for the embedded database, the master key and credentials.json.',
    { fallback: './data' }
  ),
  DATABASE_URL: setting(
    databaseUrl,
    'A PostgreSQL 15 or newer to use instead of the embedded one, as in postgres://user@host:5432/database. Several hosts, as in h1:5432,h2:5432, are a primary and its standbys: Tidings follows the one that takes writes. See docs/guides/high-availability.md.',
    {
      secret: true
    }
  ),
  DATABASE_POOL_SIZE: setting(whole(2, 200), 'The most connections that this process keeps to the database.', {
    fallback: '10'
  }),
  DATABASE_CACHE_MB: setting(
    whole(16, 65_536),
    'Memory in MB in which the embedded PostgreSQL keeps pages of the database (its shared_buffers). It is taken as it fills. See docs/guides/self-hosting.md.',
    {
      fallbackText:
        'half of the size that the database has at the start, from 128 to 1024, and at most an eighth of the memory'
    }
  ),
  DATABASE_POOLER: setting(
    oneOf('transaction'),
    'Set it to transaction if DATABASE_URL names a pooler that lends a connection for each transaction, such as pgbouncer with pool_mode = transaction. See docs/guides/self-hosting.md.'
  ),
  DATABASE_LISTEN_URL: setting(
    databaseUrl,
    'With DATABASE_POOLER: the address of the same database past the pooler, for one connection of each process that hears of changes at once. Without it, processes look for changes twice a second.',
    { secret: true }
  ),
  DATABASE_REPLICA_URL: setting(
    replicaUrl,
    'The address of a standby of DATABASE_URL, for lists, searches, statistics and exports. They show everything that was saved before; while the standby lags behind or is away, DATABASE_URL serves them. See docs/guides/high-availability.md.',
    { secret: true }
  ),
  ARCHIVE_DIR: setting(
    (value) => resolve(value),
    'Folder, best on another disk, into which the embedded database is archived, so that it can be restored as it was at any moment. Without it nothing is archived. See docs/guides/backups.md.'
  ),
  ARCHIVE_DAYS: setting(whole(1, 365), 'For how many days back ARCHIVE_DIR can restore every moment.', {
    fallback: '7'
  }),
  PUBLIC_URL: setting(
    url('http', 'https'),
    'Address at which clients reach the service, if it differs from HOST and PORT.'
  ),
  MASTER_KEY: setting(
    masterKey,
    'Key that seals the secrets in the database: 32 bytes in base64. All nodes on one database must share it.',
    { fallbackText: 'DATA_DIR/master.key, made on the first start', secret: true }
  ),
  LOG_LEVEL: setting(
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'Least severe level that is logged.',
    { fallback: 'info' }
  ),
  TRUST_PROXY: setting(
    parseTrustProxy,
    'Proxies whose X-Forwarded-* headers count: their number (true is 1), or their networks, as in loopback,10.0.0.0/8 (also linklocal, uniquelocal). See docs/guides/deployment.md.',
    { fallback: 'false' }
  ),
  METRICS_TOKEN: setting(
    credential(''),
    'Bearer token for /metrics. Without it only this machine can read the metrics.',
    { secret: true }
  ),
  PASSWORD_SIGN_IN: setting(
    flag,
    'Whether members may sign in to the console with a password. Without it passwords are neither asked for nor set.',
    { fallback: 'true' }
  ),
  WEBHOOK_ALLOW_PRIVATE: setting(
    flag,
    'Whether webhooks may go to private addresses and plain http. If it is unset, projects in simulator mode may call receivers on this machine, provided that neither PUBLIC_URL nor TRUST_PROXY is set.',
    { fallbackText: 'receivers on this machine, in simulator mode' }
  ),
  IDEMPOTENCY_HOURS: setting(whole(1, 8760), 'Hours for which an idempotency key is stored.', { fallback: '24' }),
  HTTP_PARSER: setting(
    oneOf('own', 'node'),
    'What reads HTTP requests of the usual form: Tidings, or Node, which takes about 40 µs more for each. Choose `node` if a client gets wrong responses, and report it',
    { fallback: 'own' }
  ),
  GATEWAY_HTTP2: setting(
    oneOf('own', 'node'),
    'How HTTP/2 is spoken to gateways: with frames of our own, or by Node, which takes about twice the CPU. Choose `node` if a gateway misunderstands ours, and report it',
    { fallback: 'own' }
  ),
  FCM_PER_SECOND: setting(
    whole(0, 1_000_000),
    'Messages a second that one Firebase project may send, all nodes together. 9500 stays within the usual quota of Google; 0 is no limit.',
    { fallback: '9500' }
  ),
  TASK_RETENTION_DAYS: setting(whole(1, 36500), 'Days for which finished agent tasks are kept.', { fallback: '30' }),
  A2A_TENANT_MARK: setting(
    flag,
    'Whether the agent card asks official A2A 1.0 clients to mark their calls, for projects whose agents use both spellings.',
    { fallback: 'false' }
  ),
  A2A_ORIGINS: setting(
    origins,
    'Origins of pages that may call the agents from a browser, as in https://console.example.com,http://localhost:5173. Other pages cannot read a response.',
    { fallbackText: 'none' }
  ),
  A2A_CARD_KEY: setting(
    signingKey,
    'Private key that signs the agent cards of A2A 1.0, P-256 or Ed25519, as PEM or JWK, or the path of a file with one. All nodes should share it. Without it cards are not signed.',
    { secret: true }
  ),
  TEXT_MODEL_URL: setting(
    plainUrl,
    'OpenAI-compatible API, as in https://host/v1, for texts of agents that the grammar does not understand. Without it no model is used.'
  ),
  TEXT_MODEL_NAME: setting(text, 'Name of the model. Required with TEXT_MODEL_URL.'),
  TEXT_MODEL_KEY: setting(credential('', 4096), 'Bearer token for that API, if it needs one.', { secret: true }),
  TEXT_MODEL_SECONDS: setting(whole(1, 60), 'Seconds to wait for its response.', { fallback: '10' }),
  AUDIT_RETENTION_DAYS: setting(whole(1, 36500), 'Days for which the audit log is kept.', { fallback: '365' }),
  OIDC_ISSUER: setting(
    plainUrl,
    'Issuer of the OpenID Connect provider by which members sign in, as in https://login.example.com/realms/main. Plain http only to this machine, or where WEBHOOK_ALLOW_PRIVATE is true. See docs/guides/people.md.'
  ),
  OIDC_CLIENT_ID: setting(credential('', 255), 'Client id of Tidings at that provider. Required with OIDC_ISSUER.'),
  OIDC_CLIENT_SECRET: setting(credential('', 4096), 'Client secret. Required with OIDC_ISSUER.', { secret: true }),
  OIDC_ROLES: setting(
    groupRoles,
    'Roles of the members of groups, as in staff=viewer,ops=admin,growth=editor@demo: group=role for the installation, group=role@project for one project. A person without any of these groups cannot sign in. Required with OIDC_ISSUER.'
  ),
  OIDC_GROUPS_CLAIM: setting(text, 'Claim that lists the groups of a person: a list of names, or one name.', {
    fallback: 'groups'
  }),
  OIDC_NAME: setting(text, 'Name of the provider on the sign-in page.', { fallbackText: 'the host of OIDC_ISSUER' }),
  PLANS: setting(plans, 'Plans a project can have, with their campaign triggers per second (0: no limit).', {
    fallback: 'free:10,standard:1000,unlimited:0'
  }),
  WORKER_CONCURRENCY: setting(
    whole(1, 1000),
    'Jobs of each queue that one process runs at a time. Jobs that only wait for gateways do not count.',
    {
      fallback: String(Math.max(4, 2 * availableParallelism())),
      fallbackText: 'twice the cores, at least 4'
    }
  ),
  SHUTDOWN_SECONDS: setting(
    whole(0, 600),
    'Seconds for which a stop waits for requests, and then for jobs, in flight.',
    {
      fallback: '20'
    }
  ),
  DRAIN_SECONDS: setting(
    whole(0, 300),
    'Seconds for which a stopping node still serves requests while /readyz responds 503, so that load balancers leave it first.',
    { fallback: '0' }
  ),
  BOOTSTRAP_PROJECT_ID: setting(
    projectId,
    'Project that every start ensures. Without it the first start makes `demo`. While a deleted project of this id is still being erased, a start warns and makes neither it nor its keys; a later start makes them.'
  ),
  BOOTSTRAP_SECRET_KEY: setting(credential('svc_sk_'), 'Secret key of that project.', { secret: true }),
  BOOTSTRAP_PUBLIC_KEY: setting(credential('svc_pk_'), 'Public key of that project.', { secret: true }),
  BOOTSTRAP_ADMIN_TOKEN: setting(
    credential(''),
    'Management token with the role admin that every start ensures. It should start with svc_at_.',
    { secret: true }
  ),
  ...otelSettings
}

type Settings = typeof settings
type Given<Name extends keyof Settings> = Settings[Name] extends Setting<infer Value> ? Value : never
type Optional =
  | 'DATABASE_URL'
  | 'DATABASE_CACHE_MB'
  | 'DATABASE_POOLER'
  | 'DATABASE_LISTEN_URL'
  | 'DATABASE_REPLICA_URL'
  | 'ARCHIVE_DIR'
  | 'PUBLIC_URL'
  | 'MASTER_KEY'
  | 'METRICS_TOKEN'
  | 'WEBHOOK_ALLOW_PRIVATE'
  | 'A2A_ORIGINS'
  | 'A2A_CARD_KEY'
  | 'TEXT_MODEL_URL'
  | 'TEXT_MODEL_NAME'
  | 'TEXT_MODEL_KEY'
  | 'OIDC_ISSUER'
  | 'OIDC_CLIENT_ID'
  | 'OIDC_CLIENT_SECRET'
  | 'OIDC_ROLES'
  | 'OIDC_NAME'
  | `BOOTSTRAP_${string}`
  | `OTEL_${string}`

export type Config = Readonly<{
  [Name in keyof Settings]: Name extends Optional ? Given<Name> | undefined : Given<Name>
}>

/** Reads the environment once. One message names every fault, so that an operator can correct all of them at once. */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const config: Record<string, unknown> = {}
  const faults: string[] = []
  for (const [name, { parse, fallback }] of Object.entries<Setting<unknown>>(settings)) {
    // Compose files and shells turn an unset variable into an empty one.
    const given = env[name] || fallback
    try {
      config[name] = given === undefined ? undefined : parse(given)
    } catch (error) {
      faults.push(`  ${name}: ${(error as Error).message}`)
    }
  }
  if (config.TEXT_MODEL_URL && !config.TEXT_MODEL_NAME)
    faults.push('  TEXT_MODEL_NAME: must be given where TEXT_MODEL_URL is')
  faults.push(...databaseFaults(config), ...oidcFaults(config))
  if (faults.length > 0) throw new OperatorError(`The configuration is not valid:\n${faults.join('\n')}`, 78)
  return Object.freeze(config) as Config
}

/** Settings of the database that hold only together. */
function databaseFaults(config: Record<string, unknown>): string[] {
  const { DATABASE_URL, ARCHIVE_DIR, DATA_DIR, DATABASE_POOLER, DATABASE_LISTEN_URL, DATABASE_REPLICA_URL } = config
  if (ARCHIVE_DIR && DATABASE_URL)
    return ['  ARCHIVE_DIR: is for the embedded database; a PostgreSQL of your own has archive_command']
  if (ARCHIVE_DIR && `${ARCHIVE_DIR}/`.startsWith(`${DATA_DIR}/postgres/`))
    return ['  ARCHIVE_DIR: must not lie in the folder of PostgreSQL, DATA_DIR/postgres']
  if (DATABASE_REPLICA_URL && !DATABASE_URL)
    return ['  DATABASE_REPLICA_URL: needs DATABASE_URL, because the embedded database has no standby']
  if (DATABASE_POOLER && !DATABASE_URL) return ['  DATABASE_POOLER: needs DATABASE_URL, the address of the pooler']
  const alone = DATABASE_LISTEN_URL && !DATABASE_POOLER
  return alone ? ['  DATABASE_LISTEN_URL: needs DATABASE_POOLER; without one, DATABASE_URL is used to listen'] : []
}

/** Settings of the identity provider that hold only together. */
function oidcFaults(config: Record<string, unknown>): string[] {
  const issuer = config.OIDC_ISSUER as string | undefined
  if (issuer === undefined) return []
  const faults = ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_ROLES']
    .filter((name) => config[name] === undefined)
    .map((name) => `  ${name}: must be given where OIDC_ISSUER is`)
  if (issuer.startsWith('http:') && !isLocalHost(new URL(issuer)) && config.WEBHOOK_ALLOW_PRIVATE !== true)
    faults.push(
      '  OIDC_ISSUER: must begin with https:// (plain http only to this machine, or where WEBHOOK_ALLOW_PRIVATE is true)'
    )
  return faults
}

/** Prints docs/reference/config.md; a test compares the two. */
export function printConfigDocs(): string {
  const rows = Object.entries<Setting<unknown>>(settings).map(([name, { about, fallback, fallbackText }]) => {
    const shown = fallbackText ?? (fallback === undefined ? '' : `\`${fallback}\``)
    return `| \`${name}\` | ${shown} | ${about} |`
  })
  return `# Settings

Settings are environment variables. Tidings reads them once, at the start, and reports all faults together. You need none of
them: the service starts with all of them unset. For example:

\`\`\`sh
PORT=9000 DATA_DIR=/var/lib/tidings LOG_LEVEL=debug npm start
\`\`\`

Booleans are \`true\`/\`false\` or \`1\`/\`0\`. An empty variable counts as unset.

| Variable | Default | Meaning |
|---|---|---|
${rows.join('\n')}

\`npm run docs\` prints this page from \`src/platform/config/config.ts\`.
`
}
