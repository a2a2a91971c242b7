import { attributeList, nanos } from './encoding.ts'

/** The severity numbers of OTLP for pino's levels. */
const severities: Record<number, [number: number, text: string]> = {
  10: [1, 'TRACE'],
  20: [5, 'DEBUG'],
  30: [9, 'INFO'],
  40: [13, 'WARN'],
  50: [17, 'ERROR'],
  60: [21, 'FATAL']
}

/** A line of the log as a record of OTLP. The line is redacted already. */
export function logRecord(line: string): object | undefined {
  let read: { level: number; time: string; msg?: string; trace_id?: string; span_id?: string; [name: string]: unknown }
  try {
    read = JSON.parse(line)
  } catch {
    return undefined
  }
  const { level, time, msg = '', trace_id: traceId, span_id: spanId, ...rest } = read
  const [severityNumber, severityText] = severities[level] ?? [0, '']
  return {
    timeUnixNano: nanos(Date.parse(time)),
    observedTimeUnixNano: nanos(Date.now()),
    severityNumber,
    severityText,
    body: { stringValue: msg },
    attributes: attributeList(rest),
    ...(traceId && { traceId }),
    ...(spanId && { spanId })
  }
}
