import type { Command } from 'commander'
import type { DeadJob } from '../../wire.ts'
import { usageFailure } from '../exit.ts'
import { readAll } from '../listing.ts'
import { counted, shortened, time } from '../output.ts'
import { resource } from '../resource.ts'
import { examples, tell } from '../session.ts'
import type { Shell } from '../shell.ts'

const anId = '0199c0de-0000-7000-8000-000000000001'

export function declare(command: Command, shell: Shell): void {
  examples(command, ['tidings job list', 'tidings job revive --all'])
  const jobs = resource(command, shell, { name: 'job', path: '/dead-jobs', scope: 'installation' })

  jobs.list<DeadJob>({
    about: 'List dead jobs: those that failed too often',
    examples: ['tidings job list', 'tidings job list --limit all --json'],
    more: 'They are kept for 30 days.',
    usual: 100,
    columns: [
      ['died', (job) => time(job.died_at)],
      ['job', ({ name }) => name],
      ['project', ({ project_id }) => project_id ?? ''],
      ['tries', ({ attempts }) => attempts],
      ['error', ({ error }) => shortened(error, 60)],
      ['id', ({ id }) => id]
    ],
    none: 'No dead jobs.'
  })

  jobs.verb<{ all?: true }>(
    {
      usage: 'revive [id]',
      about: 'Run a dead job again',
      examples: [`tidings job revive ${anId}`, 'tidings job revive --all'],
      options: (revive) => revive.option('--all', 'All of them, oldest first'),
      check({ all }, id?: string) {
        if ((id === undefined) === (all === undefined)) throw usageFailure('Give the id of a job, or --all.')
      }
    },
    async (session, _, id?: string) => {
      const every = { limit: Number.POSITIVE_INFINITY }
      const ids =
        id === undefined
          ? (await readAll<DeadJob>(session, jobs.at(session), every)).items.map((job) => job.id).reverse()
          : [id]
      for (const one of ids) await session.client.json('POST', jobs.at(session, one, ':revive'))
      tell(session, { revived: ids }, `${counted(ids.length, 'job runs', 'jobs run')} again.`)
    }
  )
}
