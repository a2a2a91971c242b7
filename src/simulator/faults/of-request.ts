import type { Incoming } from '../server/gateway.ts'
import type { GatewayName } from '../server/ledger.ts'
import type { Fault, Faults } from './faults.ts'

/** Some faults apply to pushes only. `token` is null for a request that the gateway refuses anyway. */
interface Judged {
  isPush: boolean
  token: string | null
}

/** Chooses the fault of a request by its connection, its token and the faults of the gateway. */
export function faultOf(gateway: GatewayName, faults: Faults, incoming: Incoming, { isPush, token }: Judged): Fault {
  const whole = faults.get(gateway)
  const { connection } = incoming
  const unprocessed = isPush && connection.session ? unprocessedFault(faults, gateway, incoming) : undefined
  if (unprocessed) return unprocessed
  connection.lastTaken = Math.max(connection.lastTaken, incoming.streamId ?? 0)

  const nth = (count: number) => count > 0 && connection.requests >= count
  let fault: Fault = faults.ofToken(token, gateway) ?? {}
  if (isPush && !faults.withinQuota(gateway)) fault = { status: 429 }
  if (isPush && whole.errorRate > 0 && faults.random() < whole.errorRate)
    fault = { ...fault, status: whole.errorStatus }
  // Only once: a connection has one last stream.
  if (nth(whole.goawayAfter) && connection.lastStream === undefined) {
    fault = { ...fault, transport: 'goaway', lastStream: whole.goawayLastStream }
    if (whole.goawayLastStream > 0) connection.lastStream = whole.goawayLastStream
  }
  if (nth(whole.dropAfter)) fault = { ...fault, transport: 'drop' }
  if (nth(whole.badHpackAfter)) fault = { ...fault, transport: 'badhpack' }
  if (nth(whole.halfOpenAfter)) fault = { ...fault, transport: 'halfopen' }
  if (whole.hang) fault = { ...fault, transport: 'hang' }

  const needsTap = fault.transport === 'halfopen' || fault.transport === 'badhpack'
  if (!needsTap || connection.tap || !connection.session) return fault
  faults.wantTap(gateway)
  return { transport: 'reconnect' }
}

/** The fault of a stream above the last one of its connection, which the gateway does not process. */
function unprocessedFault(
  faults: Faults,
  gateway: GatewayName,
  { connection, streamId = 0 }: Incoming
): Fault | undefined {
  const { goawayAfter, goawayLastStream, goawayAboveStreams } = faults.get(gateway)
  if (goawayAboveStreams > 0 && connection.open > goawayAboveStreams && connection.lastStream === undefined) {
    connection.lastStream = connection.lastTaken
    return { transport: 'crowded', lastStream: connection.lastTaken }
  }
  const chosen = goawayAfter > 0 && goawayLastStream > 0 ? goawayLastStream : Number.POSITIVE_INFINITY
  if (streamId <= (connection.lastStream ?? chosen)) return undefined
  if (connection.lastStream !== undefined || connection.requests < goawayAfter) return { transport: 'beyond' }
  connection.lastStream = goawayLastStream
  return { transport: 'beyond', lastStream: goawayLastStream }
}
