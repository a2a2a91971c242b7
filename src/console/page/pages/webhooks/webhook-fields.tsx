import { MultiSelect, TextInput } from '@mantine/core'
import type { Webhook } from '../../../../wire.ts'
import type { Form } from '../../parts/forms/api-form.ts'

/** The events by what they are about, with a label for people. */
const groups: [group: string, events: [event: Webhook['events'][number], label: string][]][] = [
  [
    'Messages',
    [
      ['message.accepted', 'Accepted by gateway'],
      ['message.failed', 'Failed'],
      ['message.delivered', 'Delivered'],
      ['message.tapped', 'Tapped']
    ]
  ],
  [
    'Campaigns',
    [
      ['trigger.completed', 'Trigger completed'],
      ['campaign.converted', 'User converted']
    ]
  ],
  ['Users', [['user.opted_out', 'User opted out']]],
  [
    'Agents',
    [
      ['approval.requested', 'Approval requested'],
      ['approval.decided', 'Approval decided']
    ]
  ]
]

const options = groups.map(([group, events]) => ({
  group,
  items: events.map(([value, label]) => ({ value, label: `${label} (${value})` }))
}))

export interface WebhookValues {
  url: string
  events: string[]
  description: string
}

export const WebhookFields = <Values extends WebhookValues>({ form }: { form: Form<Values> }) => (
  <>
    <TextInput
      {...form.getInputProps('url')}
      label="Endpoint URL"
      placeholder="https://example.com/tidings"
      required
      data-autofocus
    />
    <MultiSelect {...form.getInputProps('events')} label="Events" data={options} searchable required />
    <TextInput
      {...form.getInputProps('description')}
      label="Description"
      placeholder="What this endpoint is for"
      maxLength={500}
    />
  </>
)
