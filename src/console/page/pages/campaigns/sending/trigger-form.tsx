import { Button, Radio, Stack, Text, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Campaign } from '../../../../../wire.ts'
import { project } from '../../../api/client.ts'
import { fieldError } from '../../../api/errors.ts'
import { useHasRole, useProjectId } from '../../../api/session.ts'
import { type Form, useApiForm } from '../../../parts/forms/api-form.ts'
import { objectOr } from '../../../parts/json.ts'
import { triggerLink } from '../../../parts/links.ts'
import { instantOf, localZone } from '../../../parts/local-time.ts'
import { useSessionState } from '../../../parts/session-state.ts'
import { EmptyState, ErrorAlert } from '../../../parts/states.tsx'
import { plural } from '../../../parts/texts.tsx'
import { AudienceSummary, usersText } from '../preview/audience-summary.tsx'
import { TriggerFields } from '../preview/trigger-fields.tsx'
import type { FindError } from '../segment/segment.ts'
import { type Target, Targets } from '../targets.tsx'
import { ConfirmSend } from './confirm-send.tsx'
import { campaignPath, type TriggerRequest, useDryRun, useTriggerProperties } from './dry-run.ts'

interface Values {
  to: string
  targets: Target[]
  properties: string
  /** A local time; blank to send at once. */
  sendAt: string
}

/** The request that triggers the campaign; undefined while something is missing. */
function requestOf({ to, targets, properties: text, sendAt }: Values): TriggerRequest | undefined {
  const properties = objectOr(text, undefined)
  if (!properties || (to === 'targets' && targets.length === 0)) return undefined
  const send_at = instantOf(sendAt)
  const common = { properties, ...(send_at && { send_at }) }
  if (to === 'default') return common
  return { audience: to === 'everyone' ? { broadcast: true } : { targets }, ...common }
}

export const TriggerForm = ({ campaign }: { campaign: Campaign }) =>
  useHasRole('editor') ? (
    <EditableForm campaign={campaign} />
  ) : (
    <EmptyState title="View only: sending needs the editor role" />
  )

function EditableForm({ campaign }: { campaign: Campaign }) {
  const projectId = useProjectId()
  const navigate = useNavigate()
  const fields = useTriggerProperties(campaign)
  // The values that were tried in the preview are a good start.
  const [tried] = useSessionState(`preview properties ${campaign.campaign_id}`, '{}')
  const [asked, setAsked] = useState<TriggerRequest>()
  const { form, sending } = useApiForm<Values, { trigger_id: string }>({
    initialValues: {
      to: campaign.default_audience ? 'default' : 'targets',
      targets: [],
      properties: tried,
      sendAt: ''
    },
    send: (values) => project(projectId, 'POST', `${campaignPath(campaign)}:trigger`, { body: requestOf(values) }),
    onSuccess: ({ trigger_id }) => navigate({ to: triggerLink(projectId, trigger_id) }),
    errors: () => ({}),
    draft: { name: `trigger ${campaign.campaign_id}` }
  })
  const request = requestOf(form.values)
  const { audience, error, isCurrent } = useDryRun(campaign, request)
  const findError: FindError = (path, only) => fieldError(sending.error ?? error, path, only)
  const send = () => sending.mutate(form.values)
  return (
    <form onSubmit={form.onSubmit(() => (isBroadcast(form.values, campaign) ? setAsked(request) : send()))}>
      <Stack maw={520}>
        <Recipients campaign={campaign} form={form} findError={findError} />
        <TriggerFields
          fields={fields}
          text={form.values.properties}
          setText={(text) => form.setFieldValue('properties', text)}
          error={findError('properties')}
        />
        <TextInput
          {...form.getInputProps('sendAt')}
          label="Send at"
          description={`Blank to send now. Local time, ${localZone}, at most 90 days ahead`}
          type="datetime-local"
          error={findError('send_at')}
        />
        {audience && <AudienceSummary {...audience} />}
        {campaign.status !== 'active' && (
          <Text role="status">Status is {campaign.status}. Only active campaigns can be triggered.</Text>
        )}
        {sending.error && !asked && <ErrorAlert error={sending.error} />}
        <Button type="submit" loading={sending.isPending} disabled={!request || campaign.status !== 'active'}>
          {`${form.values.sendAt ? 'Schedule' : 'Send'}${isCurrent && audience ? ` ${form.values.sendAt ? 'for' : 'to'} ${usersText(audience)}` : ''}`}
        </Button>
      </Stack>
      <ConfirmSend
        campaign={campaign}
        request={asked}
        close={() => setAsked(undefined)}
        send={send}
        isSending={sending.isPending}
        error={sending.error}
      />
    </form>
  )
}

/** Whether everyone in the audience gets it, who is nowhere named. */
const isBroadcast = ({ to }: Values, { default_audience }: Campaign) =>
  to === 'everyone' || (to === 'default' && default_audience?.broadcast === true)

function Recipients({ campaign, form, findError }: { campaign: Campaign; form: Form<Values>; findError: FindError }) {
  const { to, targets } = form.values
  return (
    <>
      <Radio.Group
        {...form.getInputProps('to')}
        label="Recipients"
        inputWrapperOrder={['label', 'input', 'error']}
        error={findError('audience', to === 'targets')}
      >
        <Stack gap="xs" mt="xs">
          <Radio value="targets" label="Specific users in the audience" />
          <Radio value="everyone" label="Everyone in the audience" />
          <Radio
            value="default"
            label="Default audience"
            description={describeDefault(campaign)}
            disabled={!campaign.default_audience}
          />
        </Stack>
      </Radio.Group>
      {to === 'targets' && (
        <Targets
          targets={targets}
          set={(next) => form.setFieldValue('targets', next)}
          findError={findError}
          path="audience.targets"
        />
      )}
    </>
  )
}

function describeDefault({ default_audience: audience }: Campaign): string {
  if (audience?.broadcast) return 'Everyone in the audience'
  if (audience?.targets?.length) return plural(audience.targets.length, 'user or device', 'users and devices')
  return 'No default audience set'
}
