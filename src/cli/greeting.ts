import { join } from 'node:path'
import type { App } from '../app.ts'
import type { Config } from '../platform/config.ts'
import { version } from '../platform/version.ts'

/** What a person sees when the service is up. Every command to paste is a line of its own. */
export function greeting({ baseUrl, bootstrapped: { credentials, first } }: App, config: Config): string {
  const { project_id, secret_key, public_key, admin_token } = credentials
  const keys: [string, string | undefined][] = first
    ? [
        ['Project', project_id],
        ['Secret key', secret_key],
        ['Public key', public_key],
        ['Admin token', admin_token]
      ]
    : [['Project', project_id]]
  const rows: [string, string | undefined][] = [
    ...keys,
    ['Data folder', config.DATA_DIR],
    ['Keys', join(config.DATA_DIR, 'credentials.json')],
    ['API', `${baseUrl}/docs/api`]
  ]
  const lines = rows.flatMap(([name, value]) => (value ? [`  ${name.padEnd(12)} ${value}`] : []))
  const file = join(config.DATA_DIR, 'credentials.json')
  // Shown once; later the line reads the key from the file, so that it can be pasted and still tells no secret.
  const key = first
    ? `'X-Service-API-Key: ${secret_key}'`
    : `"X-Service-API-Key: $(sed -n 's/.*"secret_key": "\\(.*\\)".*/\\1/p' '${file}')"`
  const create =
    secret_key &&
    `\nCreate a user:\n\ncurl -X POST ${baseUrl}/api/v1/users -H 'X-Service-Project-ID: ${project_id}' -H ${key} ` +
      `-H 'Content-Type: application/json' -d '{"project_user_id":"ana","properties":{"plan":"premium"}}'\n`
  const makeKey = '\nNo secret key is known here. Make one with: tidings key create --kind secret --name backend\n'
  return `Tidings ${version} is ready at ${baseUrl}\n\n${lines.join('\n')}\n${create ?? makeKey}`
}
