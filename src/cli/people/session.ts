import type { Command } from 'commander'
import type { Session as Browser } from '../../wire.ts'
import { usageFailure } from '../exit.ts'
import { time } from '../output.ts'
import { resource } from '../resource.ts'
import { examples, tell } from '../session.ts'
import type { Shell } from '../shell.ts'

interface EndOptions {
  all?: true
  member?: string
}

export function declare(command: Command, shell: Shell): void {
  examples(command, ['tidings session list --all', 'tidings session end 0199c0de-0000-7000-8000-000000000001'])
  const sessions = resource(command, shell, { name: 'session', path: '/sessions', scope: 'installation' })

  sessions.list<Browser, { all?: true; member?: string }>({
    about: 'List the browsers that are signed in with this token, or those of others',
    examples: ['tidings session list', 'tidings session list --all', 'tidings session list --member <id>'],
    options: (list) =>
      list
        .option('--all', 'Those of every member and token that you administer')
        .option('--member <id>', 'Those of one member'),
    query: ({ all, member }) => ({ all: all && 'true', member_id: member }),
    columns: [
      ['id', ({ id }) => id],
      ['who', ({ member, token }) => member?.email ?? `token ${token?.name}`],
      ['how', ({ how }) => String(how)],
      ['device', ({ device }) => device],
      ['address', ({ address }) => address],
      ['signed in', (session) => time(session.created_at)],
      ['last seen', (session) => time(session.last_seen_at)]
    ],
    none: 'No browser is signed in.'
  })

  sessions.verb<EndOptions>(
    {
      usage: 'end [id]',
      about: 'End one session, all of this token, or all of a member; the browser is signed out at once',
      examples: [
        'tidings session end 0199c0de-0000-7000-8000-000000000001',
        'tidings session end --member 0199c0de-0000-7000-8000-000000000002',
        'tidings session end --all'
      ],
      options: (end) =>
        end.option('--all', 'All sessions of this token').option('--member <id>', 'All sessions of one member'),
      check: ({ all, member }: EndOptions, id?: string) => {
        if ([all, member, id].filter((one) => one !== undefined).length !== 1)
          throw usageFailure('Say which sessions end: an id, --member <id> or --all.')
      }
    },
    async (session, { member }, id?: string) => {
      if (id !== undefined) {
        await session.client.remove(sessions.at(session, id))
        return tell(session, { ended: id }, `Ended the session ${id}.`)
      }
      const query = { member_id: member }
      const done = await session.client.json<{ ended: number }>('DELETE', '/sessions', { query })
      tell(session, done, `Ended ${done.ended} ${done.ended === 1 ? 'session' : 'sessions'}.`)
    }
  )
}
