import { reach } from '../devices/devices.ts'
import { addressesActivity, type Outcome, type Push } from '../gateways/gateways.ts'
import type { Db } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { activeSpan } from '../platform/telemetry/context.ts'
import type { Carriers, Dispatch, End, Endpoint, Envelope } from './channel.ts'

// Shared by the channels whose messages go through the push gateways.

export const laneOf = ({ gateway, environment, app }: Endpoint): string => `${gateway} ${environment} ${app}`

export function throughGateways(envelope: Envelope, { sender }: Carriers): Dispatch {
  const { deviceId, gateway, environment, app, token, activityToken, registeredAt } = envelope.endpoint
  const push: Push = {
    projectId: envelope.projectId,
    messageId: envelope.messageId,
    pushId: envelope.pushId,
    deviceId,
    gateway,
    environment,
    app,
    token,
    registeredAt,
    content: envelope.content,
    collapseId: envelope.collapseId,
    priority: envelope.priority,
    notAfter: envelope.notAfter,
    repeat: envelope.repeat,
    urgent: envelope.urgent
  }
  if (activityToken !== undefined) push.activityToken = activityToken
  return { submit: (done) => submitTraced(sender, push, done), ready: () => sender.ready(push) }
}

/** Submits a push, with a span from here to the response of the gateway if the caller is traced. */
function submitTraced(sender: Carriers['sender'], push: Push, done: (outcome: Outcome) => void): boolean {
  const span = activeSpan()?.call(`push ${push.gateway}`)
  if (!span) return sender.submit(push, done)
  const { gateway, environment, messageId } = push
  return sender.submit(push, (outcome) => {
    const facts = { gateway, environment, message_id: messageId, outcome: outcome.kind, ...detailsOf(outcome) }
    const attributes = Object.entries(facts).map(([name, value]) => [`tidings.${name}`, value])
    span.end(Object.fromEntries(attributes), outcome.kind === 'accepted' ? undefined : (facts.reason ?? outcome.kind))
    done(outcome)
  })
}

const detailsOf = (outcome: Outcome): { reason?: string; gateway_code?: string } =>
  outcome.kind === 'accepted'
    ? {}
    : { reason: outcome.reason, ...('gatewayCode' in outcome && { gateway_code: outcome.gatewayCode }) }

/** Turns off the tokens that gateways call dead, and turns on those whose reports are not trusted any more. */
export async function buryDeadTokens(tx: Db, projectId: ProjectId, ends: End[]): Promise<void> {
  const ofPush: reach.Burial[] = []
  const ofActivities: reach.Burial[] = []
  for (const { endpoint, outcome } of ends) {
    if (outcome.kind !== 'rejected' || !outcome.tokenDeadAsOf) continue
    const { deviceId, token } = endpoint
    const dead = { deviceId, token, asOf: outcome.tokenDeadAsOf, reason: outcome.reason }
    if (addressesActivity(endpoint)) ofActivities.push(dead)
    else ofPush.push(dead)
  }
  if (ofPush.length > 0) await reach.buryTokens(tx, projectId, ofPush)
  if (ofActivities.length > 0) await reach.buryActivities(tx, projectId, ofActivities)
  // Outcomes of a project are written in their order, so these tokens have been turned off by now.
  const living = ends.flatMap(({ outcome }) => (outcome.kind === 'rejected' && outcome.disbelieved) || [])
  if (living.length > 0) await reach.reviveTokens(tx, projectId, living)
}
