import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { eventually } from '../support/eventually.ts'
import type { Json } from '../support/http.ts'
import { root } from '../support/program.ts'
import type { Containers } from './containers.ts'

/** The services of a compose file, with these values for its variables. */
export function services(file: string, variables: Record<string, string>): Record<string, Json> {
  const text = readFileSync(join(root, 'deploy/container', file), 'utf8')
  const filled = text.replace(/\$\{(\w+):([-?])([^}]*)\}/g, (_, name, kind, otherwise) => {
    if (variables[name] === undefined && kind === '?') throw new Error(otherwise)
    return variables[name] ?? otherwise
  })
  return parse(filled, { merge: true }).services
}

/** The options of podman that mean the same as the fields of a service. A field that has none here throws. */
function options(service: Json): string[] {
  const { image, command, build, restart, depends_on, ports, stop_grace_period, ...fields } = service
  const each = (option: string, values: string[]) => values.flatMap((value) => [option, value])
  const means: Record<string, (value: Json) => string[]> = {
    environment: (value) =>
      each(
        '--env',
        Object.entries(value).map(([name, text]) => `${name}=${text ?? ''}`)
      ),
    read_only: () => ['--read-only', '--read-only-tmpfs=false'],
    tmpfs: (value) => each('--tmpfs', value),
    cap_drop: (value) => each('--cap-drop', value),
    security_opt: (value) => each('--security-opt', value),
    volumes: (value) => each('--volume', value)
  }
  return Object.entries(fields).flatMap(([name, value]) => means[name]!(value))
}

/** Runs a service as its file says, on the network of this machine and with other settings for it. Returns at its end. */
export const runOnce = ({ podman }: Containers, service: Json, env: Record<string, string>): Promise<string> =>
  podman(['run', '--rm', ...options(withSettings(service, env)), service.image, ...(service.command ?? [])])

export type Container = Awaited<ReturnType<typeof start>>

/** Starts a service in the same way, and waits until it is ready. */
export async function start({ podman }: Containers, name: string, service: Json, env: Record<string, string>) {
  const url = `http://127.0.0.1:${env.PORT}`
  const given = options(withSettings(service, env))
  await podman(['run', '--detach', '--name', name, ...given, service.image, ...(service.command ?? [])])
  const inspect = async (format: string) => (await podman(['inspect', '--format', format, name])).trim()
  await eventually(async () => {
    const ready = await fetch(`${url}/readyz`).catch(() => undefined)
    if (!ready?.ok) throw new Error(`${name} is not ready:\n${await podman(['logs', name])}`)
  }, 60_000)
  return {
    name,
    url,
    /** A file of the kernel about the first process of the container, such as status. */
    process: async (file: string) => readFileSync(`/proc/${await inspect('{{.State.Pid}}')}/${file}`, 'utf8'),
    exec: (...command: string[]) => podman(['exec', name, ...command]),
    /** Ends it at once, as a machine that loses its power does. */
    async kill(): Promise<void> {
      await podman(['rm', '--force', '--time', '0', name])
    },
    /** Stops it with the time that the file grants. 137 would be a kill. */
    async stop(): Promise<{ code: number; seconds: number }> {
      const beganMs = performance.now()
      await podman(['stop', '--time', String(Number.parseInt(service.stop_grace_period, 10)), name])
      const seconds = (performance.now() - beganMs) / 1_000
      const code = Number(await inspect('{{.State.ExitCode}}'))
      await podman(['rm', name])
      return { code, seconds }
    }
  }
}

const withSettings = (service: Json, env: Record<string, string>): Json => ({
  ...service,
  environment: { ...service.environment, ...env }
})
