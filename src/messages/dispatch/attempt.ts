import { type Carriers, channelOf, type Dispatch } from '../../channels/channels.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { MessageRow } from '../message.ts'

/** An attempt to hand the message over by its channel. */
export function attemptOf(
  { projectId, urgent = false }: { projectId: ProjectId; urgent?: boolean },
  row: MessageRow,
  carriers: Carriers
): Dispatch {
  const { message_id, push_id, endpoint, content, collapse_id, priority, not_after, attempts } = row
  const envelope = {
    projectId,
    messageId: message_id,
    pushId: push_id,
    endpoint: endpoint!,
    content,
    collapseId: collapse_id,
    priority,
    notAfter: not_after.getTime(),
    repeat: attempts > 0,
    urgent
  }
  return channelOf(content).dispatch(envelope, carriers)
}
