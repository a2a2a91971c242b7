import type { DeliveryResults } from '../../../wire.ts'
import { project } from './client.ts'

export interface Push {
  user: string
  title: string
  body: string
  image_url?: string
  landing_url?: string
}

export const sent = 'Sent.'

/** Sends a push to one user, as a server would, and returns the outcome as a sentence. */
export async function sendPush(projectId: string, { user, ...content }: Push): Promise<string> {
  const filled = Object.fromEntries(Object.entries(content).filter(([, text]) => text !== ''))
  const { delivery_results } = await project<DeliveryResults>(projectId, 'POST', '/api/v1/messages:send', {
    body: { push_notifications: [{ target: { project_user_id: user }, ...filled }] }
  })
  const [result] = delivery_results
  if (result?.status === 'DELIVERY_RESULT_STATUS_SUCCEED') return sent
  if (result?.status === 'DELIVERY_RESULT_STATUS_PENDING') return 'Pending: the send will be retried.'
  return `Not sent: ${result?.additional_params.failure_reason}`
}
