import type { Events } from '../../events/events.ts'
import type { Messages } from '../../messages/messages.ts'
import type { Triggers } from '../../triggers/triggers.ts'
import type { Users } from '../../users/users.ts'

/** The capabilities that skills call. The REST API calls the same. */
export interface Capabilities {
  users: Users
  events: Events
  messages: Messages
  triggers: Triggers
}
