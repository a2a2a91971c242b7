import { Button, JsonInput, Radio, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { Campaign, Preview } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { type Form, useApiForm } from '../../parts/forms/api-form.ts'
import { errorText, objectOr, readObject } from '../../parts/json.ts'
import { triggerLink } from '../../parts/links.ts'
import { instantOf, localZone } from '../../parts/local-time.ts'
import { EmptyState, ErrorAlert } from '../../parts/states.tsx'
import { plural } from '../../parts/texts.tsx'
import { AudienceSummary } from './preview/audience-summary.tsx'
import type { FindError } from './segment/segment.ts'
import { type Target, Targets } from './targets.tsx'

interface Values {
  to: string
  targets: Target[]
  properties: string
  /** A local time; blank to send at once. */
  sendAt: string
}

/** The request that triggers the campaign; undefined while something is missing. */
function requestOf({ to, targets, properties: text, sendAt }: Values) {
  const properties = objectOr(text, undefined)
  if (!properties || (to === 'targets' && targets.length === 0)) return undefined
  const send_at = instantOf(sendAt)
  const common = { properties, ...(send_at && { send_at }) }
  if (to === 'default') return common
  return { audience: to === 'everyone' ? { broadcast: true } : { targets }, ...common }
}

const pathOf = ({ campaign_id }: Campaign) => `/api/v1/campaigns/${encodeURIComponent(campaign_id)}`

/** Previews the trigger a moment after each change. */
function useDryRun(campaign: Campaign, values: Values) {
  const projectId = useProjectId()
  const request = requestOf(values)
  const [asked] = useDebouncedValue(request, 400)
  const query = useQuery({
    queryKey: ['dry-run', projectId, campaign.campaign_id, campaign.version, asked],
    queryFn: ({ signal }) =>
      project<Preview>(projectId, 'POST', `${pathOf(campaign)}:preview`, { body: asked, signal }),
    enabled: asked !== undefined,
    retry: false
  })
  const isCurrent = JSON.stringify(asked) === JSON.stringify(request)
  return { audience: request && query.data?.audience, error: query.error, isCurrent }
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
  const { form, sending, onSubmit } = useApiForm<Values, { trigger_id: string }>({
    initialValues: { to: campaign.default_audience ? 'default' : 'targets', targets: [], properties: '{}', sendAt: '' },
    send: (values) => project(projectId, 'POST', `${pathOf(campaign)}:trigger`, { body: requestOf(values) }),
    onSuccess: ({ trigger_id }) => navigate({ to: triggerLink(projectId, trigger_id) }),
    errors: () => ({}),
    draft: { name: `trigger ${campaign.campaign_id}` }
  })
  const { audience, error, isCurrent } = useDryRun(campaign, form.values)
  const findError: FindError = (path, only) => fieldError(sending.error ?? error, path, only)
  return (
    <form onSubmit={onSubmit}>
      <Stack maw={520}>
        <Recipients campaign={campaign} form={form} findError={findError} />
        <JsonInput
          {...form.getInputProps('properties')}
          label="Trigger properties"
          description="Values for {{ trigger.* }}"
          error={errorText(readObject(form.values.properties)) ?? findError('properties')}
          autosize
          minRows={3}
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
        {sending.error && <ErrorAlert error={sending.error} />}
        <Button
          type="submit"
          loading={sending.isPending}
          disabled={!requestOf(form.values) || campaign.status !== 'active'}
        >
          {`${form.values.sendAt ? 'Schedule' : 'Send'}${isCurrent && audience ? ` ${form.values.sendAt ? 'for' : 'to'} ${countOf(audience)}` : ''}`}
        </Button>
      </Stack>
    </form>
  )
}

const countOf = ({ users, complete }: Preview['audience']) => `${complete ? '' : 'at least '}${plural(users, 'user')}`

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
