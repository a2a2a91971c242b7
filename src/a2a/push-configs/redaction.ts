import type { NewPushConfig } from '../dialects/dialect.ts'
import { invalid } from '../errors.ts'
import type { PushConfig } from '../model.ts'

/** Stands for a secret in responses. A caller that sends it back keeps the secret. */
const mark = '[redacted]'

/** A webhook as it is read later: that there are secrets, and none of them. */
export function redacted({ token, authentication, ...config }: PushConfig): PushConfig {
  const { scheme, credentials } = authentication ?? {}
  return {
    ...config,
    ...(token !== undefined && { token: mark }),
    ...(scheme !== undefined && { authentication: { scheme, ...(credentials !== undefined && { credentials: mark }) } })
  }
}

/** A webhook in the response to its registration: with the secrets that its caller has just sent, and no others. */
export function shown(config: PushConfig, { token, authentication }: NewPushConfig): PushConfig {
  const sent = { ...(token !== undefined && { token }), ...(authentication && { authentication }) }
  return { ...redacted(config), ...sent }
}

/**
 * The webhook as it is stored: where the mark came back, with the secret from before. The address must be the same, else
 * a caller could have a secret that it cannot read sent to itself.
 */
export function withSecrets(wanted: NewPushConfig, before: PushConfig | undefined): NewPushConfig {
  const kept = <Secret extends string | undefined>(name: string, given: Secret, stored: string | undefined) => {
    if (given !== mark) return given
    if (stored === undefined || before?.url !== wanted.url)
      throw invalid(
        name,
        `${mark} stands for a secret that was registered with this id and url; send the secret itself`
      )
    return stored
  }
  const { token, authentication } = wanted
  const credentials = kept(
    'authentication.credentials',
    authentication?.credentials,
    before?.authentication?.credentials
  )
  return {
    ...wanted,
    token: kept('token', token, before?.token),
    authentication: authentication && {
      scheme: authentication.scheme,
      ...(credentials !== undefined && { credentials })
    }
  }
}
