import type { Devices } from '../devices/devices.ts'
import type { Events } from '../events/events.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import { activityToken, type Reports } from '../simulator/simulator.ts'

/** Reports of one batch of pushes. A broadcast to many simulated phones reports no more than this at once. */
const mostAtOnce = 200
/** Batches that wait; further ones are dropped, as phones lose reports too. */
const mostWaiting = 20

/**
 * The apps on simulated phones: they report notifications that arrived and the tokens of activities that started, as an
 * app with one of our SDKs does. Devices that an app of your own registered report by themselves.
 */
export function createPhoneReports({ devices, events, log }: { devices: Devices; events: Events; log: Log }) {
  let waiting = 0
  let done: Promise<void> = Promise.resolve()

  async function send(projectId: ProjectId, { started, shown }: Reports): Promise<void> {
    const ids = [...new Set([...started, ...shown].map(({ deviceId }) => deviceId))]
    const found = await devices.search(projectId, { among: ids, limit: ids.length })
    const simulated = new Set(found.filter(({ facts }) => facts.sdk_type === 'simulated').map(({ id }) => id))
    const at = new Date()
    const received = shown.filter(({ deviceId }) => simulated.has(deviceId))
    await events.record(
      projectId,
      received.map(({ deviceId, messageId }) => ({
        id: newId(),
        deviceId,
        messageId,
        name: 'PUSH_NOTIFICATION_RECEIVED',
        at,
        details: { source_type: 'SERVICE' },
        properties: {}
      }))
    )
    for (const { deviceId, activityId, type } of started.filter((one) => simulated.has(one.deviceId)))
      await devices.setActivityToken(projectId, deviceId, {
        attributesType: type,
        activityId,
        token: activityToken(activityId)
      })
  }

  return (projectId: ProjectId, { started, shown }: Reports): void => {
    const some = { started: started.slice(0, mostAtOnce), shown: shown.slice(0, mostAtOnce) }
    if (some.started.length + some.shown.length === 0 || waiting >= mostWaiting) return
    waiting += 1
    done = done
      .then(() => send(projectId, some))
      .catch((error: Error) => log.debug({ error: error.message, project_id: projectId }, 'phones did not report'))
      .finally(() => {
        waiting -= 1
      })
  }
}
