import type { Campaigns } from '../../campaigns/campaigns.ts'
import type { Devices } from '../../devices/devices.ts'
import type { Events } from '../../events/events.ts'
import type { Messages } from '../../messages/messages.ts'
import type { Oversight } from '../../oversight/oversight.ts'
import type { Triggers } from '../../triggers/triggers.ts'
import type { Users } from '../../users/users.ts'

/** The capabilities that skills call. The REST API calls the same. */
export interface Capabilities {
  users: Users
  devices: Pick<Devices, 'ofUser'>
  events: Events
  messages: Messages
  campaigns: Pick<Campaigns, 'newest'>
  triggers: Triggers
  oversight: Oversight
}
