import { reach } from '../../devices/devices.ts'
import type { Db } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { Channel, End } from '../channel.ts'
import { buryDeadTokens, laneOf, throughGateways } from '../gateway-dispatch.ts'
import { abridge, changeActivities, collapseId, startActivities } from './commands.ts'
import { findEndpoints } from './endpoints.ts'
import { parseActivityChanges, parseActivityStarts } from './items.ts'
import { ChangeBody, StartBody } from './schema.ts'

/** An ended activity takes no more updates, even while a dismissal date keeps it on the screen. */
async function endActivities(tx: Db, projectId: ProjectId, ends: End[]): Promise<void> {
  const ended = ends.flatMap(({ message: { content, device_id, activity_type, activity_id }, outcome }) =>
    outcome.kind === 'accepted' && content.kind === 'activity-end' && activity_type !== null && activity_id
      ? { deviceId: device_id, type: activity_type, id: activity_id }
      : []
  )
  if (ended.length > 0) await reach.endActivities(tx, projectId, ended, new Date())
}

const invalid = 'Invalid live activity parameters'
const changeExample = { live_activities: [{ activity_id: '3F2B', content_state: { minutes: 5 } }] }

/** Live Activities on iPhones. */
export const liveActivity: Channel = {
  kinds: ['activity-start', 'activity-update', 'activity-end'],
  routes: [
    {
      path: '/live-activities::start',
      scope: 'live-activities:start',
      summary: 'Start Live Activities',
      body: StartBody,
      invalid,
      example: {
        live_activities: [
          {
            target: { project_user_id: 'ana' },
            attributes_type: 'DeliveryAttributes',
            attributes: { order: '42' },
            content_state: { minutes: 20 }
          }
        ]
      },
      parse: (body) => startActivities(parseActivityStarts(body))
    },
    {
      path: '/live-activities::update',
      scope: 'live-activities:update',
      summary: 'Change running Live Activities',
      body: ChangeBody,
      invalid,
      example: changeExample,
      parse: (body) => changeActivities('activity-update', parseActivityChanges(body))
    },
    {
      path: '/live-activities::end',
      scope: 'live-activities:end',
      summary: 'End Live Activities',
      body: ChangeBody,
      invalid,
      example: changeExample,
      parse: (body) => changeActivities('activity-end', parseActivityChanges(body))
    }
  ],
  findEndpoints,
  collapseId,
  abridge,
  heading: () => ({}),
  lane: laneOf,
  dispatch: throughGateways,
  async settled(tx, projectId, ends) {
    await buryDeadTokens(tx, projectId, ends)
    await endActivities(tx, projectId, ends)
  }
}
