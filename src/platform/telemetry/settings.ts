import type { Config } from '../config/config.ts'
import type { Signal } from './exporter.ts'

type Settings = Pick<Config, Extract<keyof Config, `OTEL_${string}`>>

/** The address for a signal: its own, or a path below the shared one. Undefined if it is not sent. */
export function addressOf(config: Settings, signal: Signal): string | undefined {
  const name = signal.toUpperCase() as Uppercase<Signal>
  if (config[`OTEL_${name}_EXPORTER`] === 'none' || config.OTEL_SDK_DISABLED) return undefined
  const shared = config.OTEL_EXPORTER_OTLP_ENDPOINT
  // The address of a signal is used as it is; a path is added only to the shared one.
  return config[`OTEL_EXPORTER_OTLP_${name}_ENDPOINT`] ?? (shared && `${shared.replace(/\/+$/, '')}/v1/${signal}`)
}
