import type { Command } from 'commander'
import type { Topic } from '../../wire.ts'
import { record } from '../output.ts'
import { resource } from '../resource.ts'
import { choice, examples, tell } from '../session.ts'
import type { Shell } from '../shell.ts'

interface TopicOptions {
  name: string
  description?: string
  default?: string
}

export function declare(command: Command, shell: Shell): void {
  examples(command, ['tidings topic apply offers --name Offers', 'tidings topic list'])
  const topics = resource(command, shell, { name: 'topic', path: '/topics' })

  topics.list<Topic>({
    about: 'List the topics that users can refuse',
    examples: ['tidings topic list', "tidings topic list --json | jq -r '.items[].topic'"],
    columns: [
      ['topic', ({ topic }) => topic],
      ['name', ({ name }) => name],
      ['default', (topic) => topic.default],
      ['description', ({ description }) => description]
    ],
    none: 'No topics yet. Create one with `tidings topic apply <topic> --name <name>`.'
  })
  topics.verb<TopicOptions>(
    {
      usage: 'apply <topic>',
      about: 'Create a topic, or replace its name, description and default',
      examples: [
        "tidings topic apply offers --name Offers --description 'Discounts and sales'",
        'tidings topic apply digest --name Digest --default unsubscribed'
      ],
      more: 'The id of a topic has a to z, digits, _ and -. It can be repeated safely;\nchoices that users have made stay.',
      options: (apply) =>
        apply
          .requiredOption('--name <name>', 'As users read it')
          .option('--description <text>', 'What its messages are about')
          .addOption(
            choice('--default <default>', 'For users who have made no choice', ['subscribed', 'unsubscribed']).default(
              'subscribed'
            )
          )
    },
    async (session, { name, description, default: byDefault }, id: string) => {
      const body = { name, default: byDefault, ...(description !== undefined && { description }) }
      const topic = await session.client.json<Topic>('PUT', topics.at(session, id), { body })
      tell(session, topic, shown(topic))
    }
  )
  topics.remove({
    usage: 'delete <topic>',
    about: 'Delete a topic that no campaign uses',
    examples: ['tidings topic delete offers'],
    done: 'deleted'
  })
}

const shown = (topic: Topic): string =>
  record([
    ['Topic', topic.topic],
    ['Name', topic.name],
    ['Description', topic.description],
    ['Default', topic.default]
  ])
