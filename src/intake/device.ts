import type { SentDevice } from '../devices/devices.ts'
import { type Fields, isObject } from '../platform/fields.ts'

type Device = SentDevice & { id: string }

const longestFact = 255
/** The systems of SDKs by the names that they give themselves. Maps, because an object has an entry for "constructor". */
const platforms = new Map([
  ...['ios', 'ipados', 'macos', 'mac os x', 'tvos', 'watchos', 'visionos'].map((name) => [name, 'IOS'] as const),
  ['android', 'ANDROID'] as const
])

/**
 * The device of a message. The anonymous id names it: an SDK makes a new one when its user logs out, and a push token that
 * comes with the new id leaves the old device, so the old user's pushes stop. Messages of backends may name the
 * phone instead.
 */
export function deviceOf(anonymousId: string | undefined, context: Fields): Device | undefined {
  const own = objectIn(context.device)
  const id = anonymousId ?? text(own.id)
  if (id === undefined) return undefined
  const [app, os, library] = [objectIn(context.app), objectIn(context.os), objectIn(context.library)]
  const [language, region] = localeOf(text(context.locale))
  const platform = platformOf(text(own.type)) ?? platformOf(text(os.name))
  const token = platform && text(own.token, 4_096)
  const facts = {
    platform,
    push_token: token,
    app_identifier: text(app.namespace),
    model: text(own.model),
    manufacturer: text(own.manufacturer),
    os_name: text(os.name),
    os_version: text(os.version),
    app_name: text(app.name),
    app_version: text(app.version),
    sdk_type: text(library.name),
    sdk_version: text(library.version),
    ad_id: text(own.advertisingId),
    locale_language: language,
    locale_region: region,
    timezone: text(context.timezone)
  }
  const known = Object.entries(facts).filter(([, value]) => value !== undefined)
  return { id, ...(Object.fromEntries(known) as Partial<Device>) }
}

const platformOf = (name: string | undefined) => platforms.get(name?.toLowerCase() ?? '')

/** `pt-BR` and `pt_BR` are a language and a region; `zh-Hant-TW` has a script between them. */
function localeOf(locale: string | undefined): [language?: string, region?: string] {
  const [language, ...rest] = locale?.split(/[-_]/) ?? []
  if (!language || !/^[a-z]{2,3}$/i.test(language)) return []
  const region = rest.find((part) => /^(?:[a-z]{2}|\d{3})$/i.test(part))
  return region ? [language.toLowerCase(), region.toUpperCase()] : [language.toLowerCase()]
}

function text(value: unknown, longest = longestFact): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= longest ? value : undefined
}

const objectIn = (value: unknown): Fields => (isObject(value) ? value : {})
