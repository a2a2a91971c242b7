import type { CampaignJourneys } from '../../wire.ts'
import { amount, record, table, time } from '../output.ts'
import type { Resource } from '../resource.ts'
import { tell } from '../session.ts'

export function declareJourneys(campaigns: Resource): void {
  campaigns.verb(
    {
      usage: 'journeys <campaign>',
      about: 'Count the users on their way through a campaign',
      examples: ['tidings campaign journeys welcome', "tidings campaign journeys welcome --json | jq '.waiting'"]
    },
    async (session, _, id: string) => {
      const found = await session.client.json<CampaignJourneys>('GET', campaigns.at(session, id, '/journeys'))
      tell(session, found, shown(id, found))
    }
  )
}

function shown(
  id: string,
  { waiting, completed, exited, stopped, not_entered_again, steps }: CampaignJourneys
): string {
  const counts = record([
    ['Campaign', id],
    ['Waiting', amount(waiting)],
    ['Completed', amount(completed)],
    ['Exited', amount(exited)],
    ['Stopped', amount(stopped)],
    ['Not entered again', amount(not_entered_again)]
  ])
  if (steps.length === 0) return counts
  const lines = steps.map((one) => [
    String(one.campaign_version),
    one.step ?? '',
    amount(one.waiting),
    time(one.next_due_at)
  ])
  return `${counts}\n\n${table(['version', 'step', 'waiting', 'next due'], lines)}`
}
