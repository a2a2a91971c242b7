import type { Command } from 'commander'
import type { Project } from '../../wire.ts'
import { confirm } from '../confirm.ts'
import { usageFailure } from '../exit.ts'
import { printable, record, time } from '../output.ts'
import { type Resource, resource } from '../resource.ts'
import { type Common, examples, tell } from '../session.ts'
import type { Shell } from '../shell.ts'
import { declareIdentitySecret } from './identity-secret.ts'
import { changesOf, type ProjectOptions, projectOptions } from './project-options.ts'
import { type RuleOptions, ruleOptions, rulesOf, shownHours, shownLimits } from './rule-options.ts'

export function declare(command: Command, shell: Shell): void {
  examples(command, ['tidings project list', 'tidings project create Shop --id shop', 'tidings project pause shop'])
  const projects = resource(command, shell, { name: 'project', path: '/projects', scope: 'installation' })
  /** The project that `[id]` or --project names. */
  const chosen = resource(command, shell, { name: 'project', path: '' })

  declareCreate(projects)
  projects.list<Project>({
    about: 'List the projects that the token can see',
    examples: ['tidings project list', "tidings project list --json | jq -r '.items[].id'"],
    columns: [
      ['id', ({ id }) => id],
      ['name', ({ name }) => name],
      ['mode', ({ mode }) => mode],
      ['plan', ({ plan }) => plan],
      ['state', ({ paused_at }) => (paused_at ? 'paused' : 'running')],
      ['created', (project) => time(project.created_at)]
    ],
    none: 'No projects yet. Create one with `tidings project create <name>`.'
  })
  declareShow(chosen)
  declareUpdate(chosen)
  declareIdentitySecret(chosen, choose)
  declareState(chosen, 'pause', 'Pause a project: nothing is sent, and new messages wait')
  declareState(chosen, 'resume', 'Resume a project: waiting messages are sent')
  declareDelete(projects)
}

function declareCreate(projects: Resource): void {
  projects.verb<ProjectOptions & { id?: string }>(
    {
      usage: 'create <name>',
      about: 'Create a project',
      examples: ['tidings project create Shop', "tidings project create 'Web shop' --id shop --plan free"],
      options: (create) =>
        projectOptions(create.option('--id <id>', 'Its id: letters, digits, _ and - (default: generated)'))
    },
    async (session, options, name: string) => {
      const body = { name, ...(options.id !== undefined && { id: options.id }), ...changesOf(options) }
      const project = await session.client.json<Project>('POST', projects.at(session), { body })
      const next = `Create a key for it: tidings key create backend --kind secret -p ${project.id}`
      tell(session, project, `${shown(project)}\n\n${next}`)
    }
  )
}

function declareShow(chosen: Resource): void {
  chosen.verb(
    {
      usage: 'show [id]',
      about: 'Show a project with its limits',
      examples: ['tidings project show', 'tidings project show shop --json'],
      check: choose
    },
    async (session) => {
      const project = await session.client.json<Project>('GET', chosen.at(session))
      tell(session, project, shown(project))
    }
  )
}

function declareUpdate(chosen: Resource): void {
  type Options = ProjectOptions & RuleOptions & { name?: string }
  const bodyOf = ({ name, ...options }: Options) => ({
    ...(name !== undefined && { name }),
    ...changesOf(options),
    ...rulesOf(options)
  })
  chosen.verb<Options>(
    {
      usage: 'update [id]',
      about: 'Change the name, mode, plan, limits, retention, or the rules over all campaigns',
      examples: [
        'tidings project update shop --mode live --plan unlimited',
        'tidings project update shop --requests-per-second 5000 --events-days 90',
        'tidings project update shop --message-limit 3/24h --quiet-hours 22:00-08:00'
      ],
      more: 'The plan and the limits need a token for the whole installation.',
      options: (update) => ruleOptions(projectOptions(update.option('--name <name>', 'New name'))),
      check(options, id) {
        if (Object.keys(bodyOf(options)).length === 0)
          throw usageFailure('Nothing to change: give --name, --mode, --plan, a limit, a retention or a rule.')
        if ((options.quietTimezone ?? options.quietAction) && typeof options.quietHours !== 'object')
          throw usageFailure('--quiet-timezone and --quiet-action need --quiet-hours, such as 22:00-08:00.')
        choose(options, id)
      }
    },
    async (session, options) => {
      const project = await session.client.json<Project>('PATCH', chosen.at(session), { body: bodyOf(options) })
      tell(session, project, shown(project))
    }
  )
}

function declareState(chosen: Resource, verb: 'pause' | 'resume', about: string): void {
  chosen.verb(
    { usage: `${verb} [id]`, about, examples: [`tidings project ${verb} shop`], more: pauseHelp, check: choose },
    async (session) => {
      const path = chosen.at(session, undefined, `:${verb}`)
      const project = await session.client.json<Project>('POST', path, { repeatable: true })
      const state = project.paused_at ? `is paused since ${time(project.paused_at)}. It sends nothing.` : 'is running.'
      tell(session, project, `The project ${project.id} ${state}`)
    }
  )
}

const pauseHelp = `While a project is paused, pushes, Live Activities and triggers are accepted and
wait; webhooks, events and users work as before. Messages that a gateway already
has are finished. A message whose time to live ends meanwhile expires.`

function declareDelete(projects: Resource): void {
  projects.verb<{ yes?: true }>(
    {
      usage: 'delete <id>',
      about: 'Delete a project with everything in it',
      examples: ['tidings project delete shop', 'tidings project delete shop --yes'],
      options: (remove) => remove.option('-y, --yes', 'Do not ask')
    },
    async (session, { yes }, id: string) => {
      // Read first, so that a misspelt id is reported before the question.
      const project = await session.client.json<Project>('GET', projects.at(session, id))
      const question =
        `This deletes the project ${printable(project.name)} with its users, keys and history, for good.\n` +
        `Type its id (${id}) to delete it: `
      await confirm(session.shell, question, new RegExp(`^${RegExp.escape(id)}$`), yes === true)
      await session.client.remove(projects.at(session, id))
      tell(session, { deleted: id }, `Deleted the project ${id}.`)
    }
  )
}

/** `[id]` stands for --project. */
function choose(options: Common, id: string | undefined): void {
  if (id !== undefined && options.project !== undefined && id !== options.project)
    throw usageFailure(`Two projects are given, ${id} and ${options.project}. Give one.`)
  if (id !== undefined) options.project = id
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
    ['Messages to a user', shownLimits(project)],
    ['Quiet hours', shownHours(project)],
    ['Identity of users', project.identity_verification ? 'verified' : 'not verified'],
    ['Intake of SDKs', project.intake ? 'on' : 'off'],
    ['Created', time(created_at)]
  ])
}
