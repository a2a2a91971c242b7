import type { Command } from 'commander'
import { segment } from '../client.ts'
import { usageFailure } from '../exit.ts'
import { type ListOptions, listing, readAll, showList } from '../listing.ts'
import { counted, shortened, time } from '../output.ts'
import { type Common, connect, examples, reaching, tell } from '../session.ts'
import type { Shell } from '../shell.ts'

interface DeadJob {
  id: string
  name: string
  project_id: string | null
  attempts: number
  error: string
  died_at: string
}

const usual = 100
const errorLength = 60
const anId = '0199c0de-0000-7000-8000-000000000001'

export function declare(command: Command, shell: Shell): void {
  examples(command, ['tidings job list', 'tidings job revive --all'])

  const list = command.command('list').description('List jobs that failed too often and were given up')
  reaching(listing(list, usual))
  examples(list, ['tidings job list', 'tidings job list --limit all --json'], 'They are kept for 30 days.')
  list.action(async (options: Common & ListOptions) => {
    const session = await connect(shell, options)
    const columns = [
      ['given up', (job: DeadJob) => time(job.died_at)],
      ['job', (job: DeadJob) => job.name],
      ['project', (job: DeadJob) => job.project_id ?? ''],
      ['tries', (job: DeadJob) => job.attempts],
      ['error', (job: DeadJob) => shortened(job.error, errorLength)],
      ['id', (job: DeadJob) => job.id]
    ] as const
    showList(session, await readAll<DeadJob>(session, '/dead-jobs', options), columns, 'No job was given up.')
  })

  const revive = command.command('revive [id]').description('Run a job again that was given up')
  revive.option('--all', 'All of them, oldest first')
  reaching(revive)
  examples(revive, [`tidings job revive ${anId}`, 'tidings job revive --all'])
  revive.action(async (id: string | undefined, options: Common & { all?: true }) => {
    if ((id === undefined) === (options.all === undefined)) throw usageFailure('Name a job, or say --all.')
    const session = await connect(shell, options)
    const ids = id === undefined ? await everyId() : [id]
    for (const one of ids) await session.client.json('POST', `/dead-jobs/${segment(one)}:revive`)
    tell(session, { revived: ids }, `${counted(ids.length, 'job runs', 'jobs run')} again.`)

    async function everyId(): Promise<string[]> {
      const { items } = await readAll<DeadJob>(session, '/dead-jobs', { limit: Number.POSITIVE_INFINITY })
      return items.map((job) => job.id).reverse()
    }
  })
}
