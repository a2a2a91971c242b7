import type { Detail } from '../../platform/errors.ts'
import type { CampaignFields } from './schema.ts'

/** A campaign has a topic or is transactional. With neither, only users who opted out of everything are left out. */
export function preferenceProblems({ topic, transactional, live_activity }: Partial<CampaignFields>): Detail[] {
  if (topic === undefined) return []
  if (transactional)
    return [{ path: 'topic', message: 'must not be given beside transactional: its messages would ignore the topic' }]
  if (live_activity)
    return [{ path: 'topic', message: 'must not be given beside live_activity, which counts as transactional' }]
  return []
}
