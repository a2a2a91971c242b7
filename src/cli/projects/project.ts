import type { Command } from 'commander'
import { segment } from '../client.ts'
import { confirm } from '../confirm.ts'
import { projectOf } from '../connection.ts'
import { usageFailure } from '../exit.ts'
import { type ListOptions, listing, readAll, showList } from '../listing.ts'
import { printable, record, time } from '../output.ts'
import { type Common, connect, examples, reaching, tell } from '../session.ts'
import type { Shell } from '../shell.ts'
import { type ProjectChoices, projectChoices, wishOf } from './project-options.ts'

interface Project {
  id: string
  name: string
  mode: string
  plan: string
  limits: Record<'requests_per_second' | 'client_requests_per_second' | 'triggers_per_second', number>
  retention: Record<'events_days' | 'messages_days', number>
  created_at: string
  paused_at: string | null
}

export function declare(command: Command, shell: Shell): void {
  examples(command, ['tidings project list', 'tidings project create Shop --id shop', 'tidings project pause shop'])
  const create = command.command('create <name>').description('Create a project')
  create.option('--id <id>', 'Its id: letters, digits, _ and - (default: made up)')
  reaching(projectChoices(create))
  examples(create, ['tidings project create Shop', "tidings project create 'Web shop' --id shop --plan free"])
  create.action(async (name: string, options: Common & ProjectChoices & { id?: string }) => {
    const session = await connect(shell, options)
    const body = { name, ...(options.id !== undefined && { id: options.id }), ...wishOf(options) }
    const project = await session.client.json<Project>('POST', '/projects', { body })
    tell(
      session,
      project,
      `${shown(project)}\n\nGive it a key: tidings key create backend --kind secret -p ${project.id}`
    )
  })

  const list = command.command('list').description('List the projects that the token can see')
  reaching(listing(list))
  examples(list, ['tidings project list', "tidings project list --json | jq -r '.items[].id'"])
  list.action(async (options: Common & ListOptions) => {
    const session = await connect(shell, options)
    const columns = [
      ['id', (project: Project) => project.id],
      ['name', (project: Project) => project.name],
      ['mode', (project: Project) => project.mode],
      ['plan', (project: Project) => project.plan],
      ['state', stateOf],
      ['created', (project: Project) => time(project.created_at)]
    ] as const
    showList(session, await readAll<Project>(session, '/projects', options), columns, 'There are no projects.')
  })

  const show = command.command('show [id]').description('Show a project with its limits')
  reaching(show, 'project')
  examples(show, ['tidings project show', 'tidings project show shop --json'])
  show.action(async (id: string | undefined, options: Common) => {
    const session = await connect(shell, named(id, options))
    const project = await session.client.json<Project>('GET', pathOf(projectOf(session.connection)))
    tell(session, project, shown(project))
  })

  const update = command.command('update [id]').description('Change the name, mode, plan, limits or retention')
  update.option('--name <name>', 'New name')
  reaching(projectChoices(update), 'project')
  examples(
    update,
    [
      'tidings project update shop --mode live --plan unlimited',
      'tidings project update shop --requests-per-second 5000 --events-days 90'
    ],
    'The plan and the limits need a token for the whole installation.'
  )
  update.action(async (id: string | undefined, options: Common & ProjectChoices & { name?: string }) => {
    const body = { ...(options.name !== undefined && { name: options.name }), ...wishOf(options) }
    if (Object.keys(body).length === 0)
      throw usageFailure('Nothing to change: give --name, --mode, --plan, a limit or a retention.')
    const session = await connect(shell, named(id, options))
    const project = await session.client.json<Project>('PATCH', pathOf(projectOf(session.connection)), { body })
    tell(session, project, shown(project))
  })

  for (const [verb, description] of [
    ['pause', 'Pause a project: nothing is given to a gateway, and what is accepted waits'],
    ['resume', 'Resume a project: all that waited goes on']
  ] as const) {
    const hold = command.command(`${verb} [id]`).description(description)
    reaching(hold, 'project')
    examples(hold, [`tidings project ${verb} shop`], pauseHelp)
    hold.action(async (id: string | undefined, options: Common) => {
      const session = await connect(shell, named(id, options))
      const path = `${pathOf(projectOf(session.connection))}:${verb}`
      const project = await session.client.json<Project>('POST', path, { repeatable: true })
      const state = project.paused_at ? `is paused since ${time(project.paused_at)}. It sends nothing.` : 'is running.'
      tell(session, project, `The project ${project.id} ${state}`)
    })
  }

  const remove = command.command('delete <id>').description('Delete a project with everything in it')
  remove.option('-y, --yes', 'Do not ask')
  reaching(remove)
  examples(remove, ['tidings project delete shop', 'tidings project delete shop --yes'])
  remove.action(async (id: string, options: Common & { yes?: true }) => {
    const session = await connect(shell, options)
    // Asked of the service first, so that nobody confirms the deletion of a misspelt name.
    const project = await session.client.json<Project>('GET', pathOf(id))
    const question = `This deletes the project ${printable(project.name)} with its users, keys and history, for good.\nType its id (${id}) to go on: `
    await confirm(shell, question, new RegExp(`^${RegExp.escape(id)}$`), options.yes === true)
    await session.client.send('DELETE', pathOf(id))
    tell(session, { deleted: id }, `Deleted the project ${id}.`)
  })
}

const pauseHelp = `While a project is paused, pushes, Live Activities and triggers are accepted and
wait; webhooks, events and users go on. What is with a gateway already is
finished. A message whose time to live ends meanwhile expires.`

const stateOf = ({ paused_at }: Project) => (paused_at ? 'paused' : 'running')

const pathOf = (id: string) => `/projects/${segment(id)}`

function named(id: string | undefined, options: Common): Common {
  if (id !== undefined && options.project !== undefined && id !== options.project)
    throw usageFailure(`Which project: ${id} or ${options.project}? Name one.`)
  return id === undefined ? options : { ...options, project: id }
}

function shown(project: Project): string {
  const { id, name, mode, plan, limits, retention, created_at, paused_at } = project
  const perSecond = (limit: number) => (limit === 0 ? 'no limit' : `${limit} per second`)
  return record([
    ['Project', id],
    ['Name', name],
    ['Mode', mode],
    ['Plan', plan],
    ['State', paused_at ? `paused since ${time(paused_at)}` : 'running'],
    ['Requests', perSecond(limits.requests_per_second)],
    ['Client requests', perSecond(limits.client_requests_per_second)],
    ['Triggers', perSecond(limits.triggers_per_second)],
    ['Events kept', `${retention.events_days} days`],
    ['Messages kept', `${retention.messages_days} days`],
    ['Created', time(created_at)]
  ])
}
