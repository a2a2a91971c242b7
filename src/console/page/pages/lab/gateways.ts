import type { InboxItem } from '../../../../wire.ts'

/** The names of the gateways, as their makers call them. */
export const gatewayNames: Record<InboxItem['gateway'], string> = { apns: 'APNs', fcm: 'FCM', webpush: 'Web Push' }

export const isAccepted = ({ answer }: InboxItem) => answer.status >= 200 && answer.status < 300

const liveActivity = (payload: unknown) => JSON.stringify(payload ?? null).includes('"content-state"')

/** What a request is about, in a few words. */
export function subjectOf({ title, body, silent, activities, request }: InboxItem): string {
  if (activities !== undefined) return 'Live Activity broadcast'
  return title ?? body ?? (silent ? 'Silent push' : liveActivity(request.payload) ? 'Live Activity' : 'Push')
}
