import type { Db } from '../../platform/db/db.ts'
import type { Refusal } from '../../platform/errors.ts'
import type { ProjectId } from '../../platform/ids.ts'

/** The functions that skills call, the same as the REST API's. */
export interface Capabilities {
  /** As POST /api/v1/users. Returns the service's own id of the user. */
  createUser(projectId: ProjectId, projectUserId: string, properties: unknown): Promise<{ userId: string }>
  /** The same for many users in one transaction, each with its own outcome. */
  createUsers(
    tx: Db,
    projectId: ProjectId,
    users: { projectUserId: unknown; properties: unknown }[]
  ): Promise<({ userId: string } | Refusal)[]>
  /** As POST /api/v1/events, for one event. */
  trackEvent(projectId: ProjectId, event: TrackedEvent): Promise<unknown>
  /** As POST /api/v1/messages:send, for a body as it is sent there. A repeat of the same run must not notify again. */
  sendPush(projectId: ProjectId, body: unknown, runId: string): Promise<DeliveryResult[]>
  /** As POST /api/v1/campaigns/{campaign_id}:trigger, for a body as it is sent there. A repeat of the same run triggers once. */
  triggerCampaign(
    projectId: ProjectId,
    campaignId: string,
    body: unknown,
    runId: string
  ): Promise<{ trigger_id: string }>
}

export interface TrackedEvent {
  eventName: string
  /** Exactly one of these says whose event it is. */
  deviceId?: string
  projectUserId?: string
  userId?: string
  properties: Record<string, unknown>
  /** The run it comes from: a repeat of the same one is stored once. */
  told: { by: string; at: Date }
}

/** The REST API's result for each notification, as far as it is read here. */
export interface DeliveryResult {
  message_id: string
  status: string
  additional_params?: { failure_reason?: string }
}
