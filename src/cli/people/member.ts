import type { Command } from 'commander'
import type { InvitedMember, Member, ResetLink } from '../../wire.ts'
import { exit, Failure, usageFailure } from '../exit.ts'
import { readAll } from '../listing.ts'
import { record, time } from '../output.ts'
import { resource } from '../resource.ts'
import { type Common, choice, examples, type Session, tell } from '../session.ts'
import { remark, type Shell } from '../shell.ts'

interface Scope {
  project?: string
  allProjects?: true
}

const roles = ['admin', 'editor', 'viewer']
const roleOption = () => choice('--role <role>', 'viewer reads, editor also writes, admin also manages', roles)
const scoped = (command: Command) =>
  command
    .option('-p, --project <id>', 'The project of the role')
    .option('--all-projects', 'The role in the whole installation')

export function declare(command: Command, shell: Shell): void {
  examples(command, ['tidings member invite ada@example.com --role editor --project shop', 'tidings member list'])
  const members = resource(command, shell, { name: 'member', path: '/members', scope: 'installation' })

  members.list<Member, { project?: string }>({
    about: 'List members and invitations, with a line for each role',
    examples: ['tidings member list', 'tidings member list --project shop'],
    options: (list) => list.option('-p, --project <id>', 'Only members of this project'),
    query: ({ project }) => ({ project_id: project }),
    columns: [
      ['id', ({ id }) => id],
      ['email', ({ email }) => email],
      ['name', ({ name }) => name],
      ['role', ({ role }) => role],
      ['project', ({ project_id }) => project_id ?? 'all'],
      ['state', ({ state }) => state],
      ['last seen', (member) => time(member.last_seen_at)]
    ],
    none: 'No members yet. Invite one with `tidings member invite <email> --role admin --all-projects`.'
  })

  members.verb<Scope & { role: string }>(
    {
      usage: 'invite <email>',
      about: 'Invite a person; the link is shown only now, and nothing is sent',
      examples: [
        'tidings member invite ada@example.com --role editor --project shop',
        'tidings member invite ops@example.com --role admin --all-projects'
      ],
      options: (invite) => scoped(invite.addOption(roleOption().makeOptionMandatory())),
      check: checkScope
    },
    async (session, { role, project }, email: string) => {
      const body = { email, role, project_id: project ?? null }
      const invited = await session.client.json<InvitedMember>('POST', '/members', { body })
      showLink(session, invited, invited.invitation, [
        ['Email', invited.email],
        ['Role', invited.role],
        ['Project', invited.project_id ?? 'all'],
        ['Id', invited.id]
      ])
    }
  )

  members.verb<Scope>(
    {
      usage: 'role <member> <role>',
      about: 'Change a role; it counts at once',
      examples: ['tidings member role ada@example.com viewer --project shop'],
      more: 'A member is named by its id or its email address.',
      options: scoped,
      check: checkScope
    },
    async (session, { project }, member: string, role: string) => {
      const body = { role, project_id: project ?? null }
      const path = members.at(session, await idOf(session, member))
      const changed = await session.client.json<Member>('PATCH', path, { body })
      tell(session, changed, `${changed.email} is now ${role} of ${project ?? 'the whole installation'}.`)
    }
  )

  members.verb<Scope>(
    {
      usage: 'remove <member>',
      about: 'Remove a member from all projects that you administer, or from one, and end its sessions',
      examples: ['tidings member remove ada@example.com', 'tidings member remove ada@example.com --project shop'],
      options: scoped
    },
    async (session, { project, allProjects }, member: string) => {
      const id = await idOf(session, member)
      const query = { project_id: project, installation: allProjects && 'true' }
      await session.client.remove(members.at(session, id), query)
      tell(session, { removed: id }, `Removed the member ${member}.`)
    }
  )

  members.verb(
    {
      usage: 'reset <member>',
      about: 'Make a link with which a member sets a new password; it is shown only now',
      examples: ['tidings member reset ada@example.com']
    },
    async (session, _, member: string) => {
      const link = await session.client.json<ResetLink>(
        'POST',
        members.at(session, await idOf(session, member), ':reset')
      )
      showLink(session, link, link, [])
    }
  )

  /** The link as a browser of this machine opens it. */
  function showLink(
    session: Session,
    value: object,
    { path, expires_at }: ResetLink,
    fields: [string, string][]
  ): void {
    const link = session.connection.browserUrl + path
    tell(session, value, record([['Link', link], ...fields, ['Until', time(expires_at)]]))
    if (!session.json) remark(shell, '\nGive the link to the person yourself. It works once and is not shown again.')
  }
}

/** The id of a member that is named by its address. */
async function idOf(session: Session, member: string): Promise<string> {
  if (!member.includes('@')) return member
  const wanted = member.normalize('NFC').toLowerCase()
  const { items } = await readAll<Member>(session, '/members', { limit: Number.POSITIVE_INFINITY })
  const found = items.find(({ email }) => email.toLowerCase() === wanted)
  if (!found) throw new Failure(exit.notFound, 'not_found', `No member has the address ${member}.`)
  return found.id
}

/** A role in the whole installation is never the default: it must be asked for. */
function checkScope({ project, allProjects }: Common & Scope): void {
  if ((project === undefined) === (allProjects === undefined))
    throw usageFailure('Choose where the role counts: either --project <id> or --all-projects.')
}
