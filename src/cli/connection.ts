import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { settings } from '../platform/config/config.ts'
import { readCredentials } from '../projects/bootstrap.ts'
import { exit, Failure, usageFailure } from './exit.ts'

/** The options of every command that talks to the service. */
export interface Where {
  url?: string
  token?: string
  project?: string
}

export interface Connection {
  url: string
  /** The public address, for links. `url` may be an address that only this machine can reach. */
  browserUrl: string
  token: string
  /** Absent if options, variables and the file name none. */
  project: string | undefined
}

/** The options of a command that acts as an agent. */
export interface KeyOptions {
  url?: string
  key?: string
}

export interface KeyConnection {
  url: string
  key: string
}

const dataDirOf = (env: NodeJS.ProcessEnv): string =>
  settings.DATA_DIR.parse(env.DATA_DIR || settings.DATA_DIR.fallback!)

/**
 * Takes options, else variables, else credentials.json, which `tidings serve` writes to the data folder. The token and
 * the project of that file are used only with the address in it, so that a token never reaches another server.
 */
export async function findConnection(where: Where, env: NodeJS.ProcessEnv): Promise<Connection> {
  const named = { url: where.url ?? env.TIDINGS_URL, token: where.token ?? env.TIDINGS_TOKEN }
  const project = (where.project ?? env.TIDINGS_PROJECT) || undefined
  // Read only if needed, so that a broken file does not break a command with all options.
  const whole = named.url && named.token && project
  const file = whole ? {} : await readCredentials(dataDirOf(env))
  const url = named.url || file.local_url || file.base_url
  if (!url) {
    throw new Failure(
      exit.configuration,
      'no_service',
      `No service found: ${join(dataDirOf(env), 'credentials.json')} ${await whyUnknown(dataDirOf(env))}. Start ` +
        'one here with `tidings serve`, set DATA_DIR to the data folder of a running one, or give --url and --token (or set ' +
        'TIDINGS_URL and TIDINGS_TOKEN).'
    )
  }
  const address = checked(url)
  const own = [file.base_url, file.local_url].some((one) => one !== undefined && checked(one) === address)
  const token = named.token || (own ? file.admin_token : undefined)
  if (!token) {
    throw new Failure(
      exit.configuration,
      'no_token',
      `No management token found for ${address}. Give --token, or set TIDINGS_TOKEN.`
    )
  }
  // fetch would quote an invalid token in its error.
  if (!/^[\x21-\x7e]+$/.test(token))
    throw usageFailure('The token contains characters that no token has. Check --token or TIDINGS_TOKEN.')
  const browserUrl = named.url || !file.base_url ? address : checked(file.base_url)
  return { url: address, browserUrl, token, project: project ?? (own ? file.project_id : undefined) }
}

/** Takes options, else variables, else credentials.json: the secret key of a project, and the address it belongs to. */
export async function findKey(options: KeyOptions, env: NodeJS.ProcessEnv): Promise<KeyConnection> {
  const named = { url: options.url ?? env.TIDINGS_URL, key: options.key ?? env.TIDINGS_KEY }
  const file = named.url && named.key ? {} : await readCredentials(dataDirOf(env))
  const url = named.url || file.local_url || file.base_url
  if (!url)
    throw new Failure(
      exit.configuration,
      'no_service',
      'No service found. Give --url and --key, set TIDINGS_URL and TIDINGS_KEY, or set DATA_DIR to the data folder of a running one.'
    )
  const address = checked(url)
  const own = [file.base_url, file.local_url].some((one) => one !== undefined && checked(one) === address)
  const key = named.key || (own ? file.secret_key : undefined)
  if (!key)
    throw new Failure(
      exit.configuration,
      'no_key',
      `No secret key found for ${address}. Give --key, or set TIDINGS_KEY.`
    )
  if (!/^svc_sk_[\x21-\x7e]+$/.test(key))
    throw usageFailure('The key must be a secret key, which starts with svc_sk_. Check --key or TIDINGS_KEY.')
  return { url: address, key }
}

const whyUnknown = (dataDir: string): Promise<string> =>
  access(join(dataDir, 'credentials.json')).then(
    () => 'contains no address',
    () => 'does not exist'
  )

export function projectOf({ project }: Connection): string {
  if (project) return project
  throw usageFailure(
    'No project given. Give --project <id>, or set TIDINGS_PROJECT. List projects with `tidings project list`.'
  )
}

function checked(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.username || parsed.password) {
    throw usageFailure('The address of the service must look like http://127.0.0.1:8080. Check --url or TIDINGS_URL.')
  }
  return `${parsed.origin}${parsed.pathname}`.replace(/\/+$/, '')
}
