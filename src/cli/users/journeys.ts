import type { Journey } from '../../wire.ts'
import { time } from '../output.ts'
import type { Resource } from '../resource.ts'

export function declareJourneys(users: Resource): void {
  users.list<Journey>({
    usage: 'journeys <user>',
    about: 'List the campaigns that a user is in or went through',
    examples: ['tidings user journeys ana', "tidings user journeys ana --json | jq '.items[0].due_at'"],
    more: 'Only campaigns with steps, a delay or a limit of reentry remember their users.',
    usual: 50,
    below: '/journeys',
    columns: [
      ['campaign', ({ campaign_id }) => campaign_id],
      ['entered', ({ entered_at }) => time(entered_at)],
      ['state', ({ state }) => state],
      ['', ({ message }) => message]
    ],
    none: 'The user is in no campaign, and went through none.'
  })
}
