import { join } from 'node:path'
import { type Config, settings } from '../../platform/config/config.ts'
import type { NodeRole } from '../../platform/nodes/nodes.ts'
import { version } from '../../platform/version.ts'
import type { Introduced } from './processes/questions.ts'

/** How to call the command line from where this runs: an installed package, a checkout, or the image, which has no npm. */
const command = import.meta.dirname.includes('node_modules')
  ? 'npx tidings'
  : import.meta.filename.endsWith('.ts')
    ? 'npm run tidings'
    : 'tidings'

/** The text at the start of the service: 80 columns and 23 rows at most. Every command to paste has a line of its own. */
export function greeting(app: Introduced, config: Config, role: NodeRole): string {
  const { baseUrl, consoleUrl } = app
  const { credentials, first, named, demo } = app.bootstrapped
  const { project_id, secret_key, public_key, admin_token } = credentials
  const keys: [string, string | undefined][] = first
    ? [
        ['Project', project_id],
        ['Secret key', named.secret_key ? 'from BOOTSTRAP_SECRET_KEY' : secret_key],
        ['Public key', named.public_key ? 'from BOOTSTRAP_PUBLIC_KEY' : public_key],
        ['Admin token', named.admin_token ? 'from BOOTSTRAP_ADMIN_TOKEN' : admin_token]
      ]
    : [['Project', project_id]]
  const rows: [string, string | undefined][] = [
    ...keys,
    ['Kept in', join(config.DATA_DIR, 'credentials.json')],
    ['API', `${baseUrl}/docs/api`],
    ['Console', consoleUrl]
  ]
  const lines = rows.flatMap(([name, value]) => (value ? [`  ${name.padEnd(12)} ${value}`] : []))
  const ready = `Tidings ${version} is ready at ${baseUrl}\n\n${lines.join('\n')}\n`
  if (role === 'worker') return `${ready}\nThis is a worker: it serves only health, metrics and the API page.\n`
  // Only the start that made a secret prints it. Later ones print a command that reads it from the file.
  const header = (name: string, secret: 'secret_key' | 'admin_token') =>
    first && !named[secret]
      ? `-H ${quoted(`${name}${credentials[secret]}`)}`
      : `-H "${name}$(sed -n 's/.*"${secret}": "\\(.*\\)".*/\\1/p' ${quoted(join(config.DATA_DIR, 'credentials.json'))})"`
  const json = `-H 'Content-Type: application/json' -d`
  const create =
    secret_key &&
    `Create a user:\ncurl -X POST ${baseUrl}/api/v1/users -H 'X-Service-Project-ID: ${project_id}' ` +
      `${header('X-Service-API-Key: ', 'secret_key')} ${json} '{"project_user_id":"ana","properties":{"plan":"premium"}}'\n`
  const makeKey =
    admin_token &&
    `Create a secret key:\ncurl -X POST ${baseUrl}/manage/v1/projects/${project_id}/keys ` +
      `${header('Authorization: Bearer ', 'admin_token')} ${json} '{"kind":"secret","name":"backend"}'\n`
  const next = create ?? makeKey
  const call = commandIn(config.DATA_DIR)
  const push = demo && secret_key && pushing(baseUrl, header('X-Service-API-Key: ', 'secret_key'), call)
  const signIn = !consoleUrl?.includes('#') && `Print a link that signs you in to the console: ${call} console\n`
  const steps = [next, push, signIn].flatMap((step) => (step ? [`\n${step}`] : []))
  return `${ready}${steps.join('')}`
}

/** The greeting for programs. It contains a key only if this start made it. */
export function introduction({ baseUrl, consoleUrl, bootstrapped }: Introduced, config: Config) {
  const { credentials, first, named } = bootstrapped
  const { project_id, ...secrets } = credentials
  const made = (['secret_key', 'public_key', 'admin_token'] as const).filter((name) => first && !named[name])
  return {
    version,
    base_url: baseUrl,
    console_url: consoleUrl,
    data_dir: config.DATA_DIR,
    project_id,
    ...Object.fromEntries(made.map((name) => [name, secrets[name]]))
  }
}

/** Commands find the service by its data folder; the shell in which they are pasted may lack the variable. */
const commandIn = (dataDir: string): string =>
  dataDir === settings.DATA_DIR.parse(settings.DATA_DIR.fallback!) ? command : `DATA_DIR=${shown(dataDir)} ${command}`

const shown = (path: string) => (/^[\w./-]+$/.test(path) ? path : quoted(path))

const pushing = (baseUrl: string, key: string, call: string) =>
  `Send a push to the simulated phones of demo-user; nothing leaves this machine:\ncurl -X POST ${baseUrl}/api/v1/messages:send ` +
  `-H 'X-Service-Project-ID: demo' ${key} -H 'Content-Type: application/json' -d '{"push_notifications":` +
  `[{"target":{"project_user_id":"demo-user"},"title":"Hello","body":"It works"}]}'\n` +
  `${seeing(`${call} inbox`)}\n`

/** The console has a row of its own above: a long data folder must not take a second row here. */
function seeing(call: string): string {
  const line = `See it in the console, under Device lab, or by: ${call}`
  return line.length <= 80 ? line : `See it by: ${call}`
}

/** Quotes text for a shell: a key that an operator chose may contain any character. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
