import { type Command, InvalidArgumentError } from 'commander'
import type { Consent, Preferences } from '../../wire.ts'
import { segment } from '../client.ts'
import { usageFailure } from '../exit.ts'
import { record, shortened, table, time } from '../output.ts'
import type { Resource } from '../resource.ts'
import { inProject, tell } from '../session.ts'

interface PreferenceOptions {
  optOut?: true
  optIn?: true
  topic?: [string, boolean | null][]
  source?: string
  text?: string
  at?: string
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
    .option('--source <source>', 'Evidence of the choice: where the person made it, such as checkout')
    .option('--text <text>', 'Evidence: the version of the text that the person agreed to, or the text')
    .option('--at <time>', 'Evidence: when the person chose, RFC 3339 (default: now)')

export function declarePreferences(users: Resource): void {
  users.verb<PreferenceOptions>(
    {
      usage: 'preferences <user>',
      about: 'Show what a user wants to receive, or change it',
      examples: [
        'tidings user preferences ana',
        'tidings user preferences ana --topic offers=no',
        'tidings user preferences ana --opt-out',
        'tidings user preferences ana --topic offers=yes --source checkout --text 2026-03'
      ],
      options,
      check({ optOut, optIn, topic, source, text, at }) {
        if (optOut && optIn) throw usageFailure('Give --opt-out or --opt-in, not both.')
        const evidence = source ?? text ?? at
        if (evidence !== undefined && source === undefined) throw usageFailure('Give --source with --text and --at.')
        if (evidence !== undefined && !optOut && !optIn && !topic)
          throw usageFailure('Give the choice that --source is evidence of: --topic, --opt-out or --opt-in.')
      }
    },
    async (session, { optOut, optIn, topic, source, text, at }, id: string) => {
      const body = {
        ...((optOut || optIn) && { opted_out: optOut === true }),
        ...(topic && { topics: Object.fromEntries(topic) }),
        ...(source !== undefined && { consent: { source, text, at } })
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

export function declareConsents(users: Resource): void {
  users.verb(
    {
      usage: 'consents <user>',
      about: 'Show the evidence of what a user chose',
      examples: ['tidings user consents ana', "tidings user consents ana --json | jq '.consents[0].text'"],
      more: `The latest yes and the latest no to each topic, and to messages at all: when the
person chose, where, to which text, and who sent it.`
    },
    async (session, _, id: string) => {
      const path = inProject(session, `/api/v1/users/${segment(id)}/consents`)
      const found = await session.client.json<{ consents: Consent[] }>('GET', path)
      tell(session, found, found.consents.length === 0 ? 'The user has made no choice.' : listed(found.consents))
    }
  )
}

const listed = (consents: Consent[]): string =>
  table(
    ['TOPIC', 'CHOICE', 'AT', 'SOURCE', 'TEXT', 'BY'],
    consents.map(({ topic, granted, at, source, text, actor }) => [
      topic ?? '(all messages)',
      granted ? 'yes' : 'no',
      time(at),
      source ?? '',
      shortened(text ?? '', 40),
      actor
    ])
  )

const shown = (user: string, { opted_out, topics }: Preferences): string =>
  record([
    ['User', user],
    ['Opted out', opted_out ? 'yes, of all but transactional messages' : 'no'],
    ...Object.entries(topics).map(([topic, wanted]): [string, string] => [topic, wanted ? 'yes' : 'no'])
  ])
