import type { Events } from '../../events/events.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { Triggers } from '../../triggers/triggers.ts'
import type { Users } from '../../users/users.ts'

/** The capabilities that skills call. The REST API calls the same. */
export interface Capabilities {
  users: Users
  events: Events
  triggers: Triggers
  /** As POST /api/v1/messages:send, for a body as it is sent there. A repeat of the same run must not notify again. */
  sendPush(projectId: ProjectId, body: unknown, runId: string): Promise<DeliveryResult[]>
}

/** The REST API's result for each notification, as far as it is read here. */
export interface DeliveryResult {
  message_id: string
  status: string
  additional_params?: { failure_reason?: string }
}
