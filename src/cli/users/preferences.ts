import { type Command, InvalidArgumentError } from 'commander'
import type { Preferences } from '../../wire.ts'
import { segment } from '../client.ts'
import { usageFailure } from '../exit.ts'
import { record } from '../output.ts'
import type { Resource } from '../resource.ts'
import { inProject, tell } from '../session.ts'

interface PreferenceOptions {
  optOut?: true
  optIn?: true
  topic?: [string, boolean | null][]
}

const words = new Map<string, boolean | null>([
  ['yes', true],
  ['no', false],
  ['default', null]
])

function topicChoice(text: string, before: [string, boolean | null][] = []): [string, boolean | null][] {
  const [topic = '', word = ''] = text.split(/=(.*)/s)
  const wanted = words.get(word)
  if (topic === '' || wanted === undefined)
    throw new InvalidArgumentError('Give topic=yes, topic=no or topic=default, such as offers=no.')
  return [...before, [topic, wanted]]
}

const options = (command: Command) =>
  command
    .option('--opt-out', 'Send only transactional messages from now on')
    .option('--opt-in', 'Take the opt-out back')
    .option('--topic <topic=choice>', 'offers=yes, offers=no or offers=default; may be repeated', topicChoice)

export function declarePreferences(users: Resource): void {
  users.verb<PreferenceOptions>(
    {
      usage: 'preferences <user>',
      about: 'Show what a user wants to receive, or change it',
      examples: [
        'tidings user preferences ana',
        'tidings user preferences ana --topic offers=no',
        'tidings user preferences ana --opt-out'
      ],
      options,
      check({ optOut, optIn }) {
        if (optOut && optIn) throw usageFailure('Give --opt-out or --opt-in, not both.')
      }
    },
    async (session, { optOut, optIn, topic }, id: string) => {
      const body = {
        ...((optOut || optIn) && { opted_out: optOut === true }),
        ...(topic && { topics: Object.fromEntries(topic) })
      }
      const path = inProject(session, `/api/v1/users/${segment(id)}/preferences`)
      const changes = Object.keys(body).length > 0
      const preferences = await (changes
        ? session.client.json<Preferences>('PATCH', path, { body })
        : session.client.json<Preferences>('GET', path))
      tell(session, preferences, shown(id, preferences))
    }
  )
}

const shown = (user: string, { opted_out, topics }: Preferences): string =>
  record([
    ['User', user],
    ['Opted out', opted_out ? 'yes, of all but transactional messages' : 'no'],
    ...Object.entries(topics).map(([topic, wanted]): [string, string] => [topic, wanted ? 'yes' : 'no'])
  ])
