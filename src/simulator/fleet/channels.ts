import type { Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { type Channels, mostChannels, newChannelId } from '../apns/channels.ts'
import type { ApnsEnvironment } from '../apns/provider.ts'
import * as store from './channel-store.ts'

/** The channels of a project's simulators, in the database: every node runs a simulator, and all share the channels. */
export const storedChannels = (pool: Pool, projectId: ProjectId, environment: ApnsEnvironment): Channels => ({
  async find(app, id) {
    const found = await store.findChannel(pool, projectId, { environment, app, id })
    return found && { storage: found.storage === 1 ? 1 : 0 }
  },
  async create(app, { storage }) {
    const id = newChannelId()
    const made = await store.insertChannel(pool, projectId, { environment, app, id }, storage, mostChannels)
    return made ? id : undefined
  },
  remove: (app, id) => store.removeChannel(pool, projectId, { environment, app, id }),
  list: (app) => store.listChannels(pool, projectId, environment, app)
})
