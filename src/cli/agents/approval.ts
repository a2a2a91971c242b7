import type { Command } from 'commander'
import type { Approval } from '../../wire.ts'
import { amount, counted, record, time } from '../output.ts'
import { type Resource, resource } from '../resource.ts'
import { choice, examples, tell } from '../session.ts'
import type { Shell } from '../shell.ts'

const anId = '0199c0de-0000-7000-8000-000000000001'
const states = ['pending', 'approved', 'rejected', 'expired', 'superseded', 'canceled']
const listsIds = '`tidings approval list` shows the ids.'

export function declare(command: Command, shell: Shell): void {
  examples(command, [
    'tidings approval list --state pending',
    `tidings approval show ${anId}`,
    `tidings approval approve ${anId} --note "Go ahead"`
  ])
  const approvals = resource(command, shell, { name: 'approval', path: '/approvals' })
  approvals.list<Approval, { state?: string }>({
    about: 'List the actions of agents that wait for a person, and those that were decided; newest first',
    examples: ['tidings approval list', 'tidings approval list --state pending --json'],
    options: (list) => list.addOption(choice('--state <state>', 'Only those in this state', states)),
    query: ({ state }) => ({ state }),
    usual: 50,
    columns: [
      ['id', ({ id }) => id],
      ['state', ({ state }) => state],
      ['action', action],
      ['recipients', recipients],
      ['key', ({ key }) => key.name],
      ['asked', (approval) => time(approval.requested_at)]
    ],
    none: ({ state }) => (state ? `No approvals are ${state}.` : 'No agent has asked for an approval yet.')
  })
  approvals.show<Approval>({
    usage: 'show <id>',
    about: 'Show what an agent asks for, whom it would reach and why a person is asked',
    examples: [`tidings approval show ${anId}`],
    more: listsIds,
    text: shown
  })
  declareDecision(approvals, 'approve', 'Approve an action: it is done now, as it was shown')
  declareDecision(approvals, 'reject', 'Reject an action; the agent reads the note')
}

function declareDecision(approvals: Resource, verb: 'approve' | 'reject', about: string): void {
  approvals.verb<{ note?: string }>(
    {
      usage: `${verb} <id>`,
      about,
      examples: [`tidings approval ${verb} ${anId}`, `tidings approval ${verb} ${anId} --note "See the plan"`],
      more: listsIds,
      options: (decision) => decision.option('--note <text>', 'Why; up to 2,000 characters')
    },
    async (session, { note }, id: string) => {
      const body = note === undefined ? {} : { note }
      const decided = await session.client.json<Approval>('POST', approvals.at(session, id, `:${verb}`), { body })
      const said = verb === 'approve' ? 'Approved' : 'Rejected'
      const noun = decided.recipients === 1 ? 'recipient' : 'recipients'
      tell(session, decided, `${said}: ${action(decided)} for ${recipients(decided)} ${noun}.`)
    }
  )
}

const action = ({ skill, campaign_id: campaign }: Approval): string => (campaign ? `${skill} ${campaign}` : skill)

const recipients = (approval: Approval): string =>
  `${approval.complete ? '' : 'at least '}${amount(approval.recipients)}`

function shown(approval: Approval): string {
  const [sample] = approval.sample
  const facts = record([
    ['Id', approval.id],
    ['State', approval.state],
    ['Action', action(approval)],
    ['Version', approval.campaign_version],
    ['Recipients', `${recipients(approval)} on ${counted(approval.devices, 'device')}`],
    ['For example', sample && [sample.title, sample.body].filter(Boolean).join(': ')],
    ['Reason', approval.reason],
    ['Key', approval.key.name],
    ['Agent', approval.agent],
    ['Task', approval.task_id],
    ['Asked', time(approval.requested_at)],
    ['Expires', time(approval.expires_at)],
    [
      'Decided',
      approval.decided_at === null
        ? 'not yet'
        : `${time(approval.decided_at)} by ${approval.decided_by ?? 'the service'}`
    ],
    ['Note', approval.note],
    ['Superseded by', approval.superseded_by]
  ])
  return `${facts}\n\n${JSON.stringify(approval.command, null, 2)}`
}
