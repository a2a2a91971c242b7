import { Alert, Button, FileButton, Group, Select, Stack, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { GatewayCredential } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProject, useProjectId } from '../../api/session.ts'
import type { Form } from '../../parts/forms/api-form.ts'
import { Loaded } from '../../parts/states.tsx'
import { GatewaySection } from './gateway-section.tsx'

/** Credentials of each gateway: where to get them, a form, and a check whether they work. */
export function Gateways() {
  const projectId = useProjectId()
  const simulated = useProject()?.mode === 'simulator'
  const saved = useQuery({
    queryKey: ['gateways', projectId],
    queryFn: () => project<{ items: GatewayCredential[] }>(projectId, 'GET', '/gateways')
  })
  return (
    <Stack maw={720}>
      {simulated && (
        <Alert color="orange">
          Simulator mode needs no credentials. You can save and verify them before you go live.
        </Alert>
      )}
      <Loaded query={saved}>
        {({ items }) => (
          <>
            <Apns saved={items.filter(({ gateway }) => gateway === 'apns')} />
            <Fcm saved={items.filter(({ gateway }) => gateway === 'fcm')} />
            <WebPush saved={items.filter(({ gateway }) => gateway === 'webpush')} />
          </>
        )}
      </Loaded>
    </Stack>
  )
}

const Apns = ({ saved }: { saved: GatewayCredential[] }) => (
  <GatewaySection
    gateway="apns"
    title="Apple (APNs)"
    saved={saved}
    initialValues={{ key: '', key_id: '', team_id: '', topic: '', environment: 'both' }}
    secrets={['key']}
    about="In your Apple Developer account, open Certificates, Identifiers & Profiles > Keys and create a key with Apple Push Notifications service (APNs). Download its .p8 file. The key page shows the key ID; Membership details show the team ID."
  >
    {(form) => (
      <>
        <FileField form={form} path="key" label="Key file (.p8)" />
        <Group grow align="start">
          <TextInput {...form.getInputProps('key_id')} label="Key ID" />
          <TextInput {...form.getInputProps('team_id')} label="Team ID" />
        </Group>
        <Group grow align="start">
          <TextInput {...form.getInputProps('topic')} label="Bundle ID" />
          <Select
            {...form.getInputProps('environment')}
            label="Environment"
            allowDeselect={false}
            data={environments}
          />
        </Group>
      </>
    )}
  </GatewaySection>
)

const environments = [
  { value: 'production', label: 'Production' },
  { value: 'sandbox', label: 'Sandbox' },
  { value: 'both', label: 'Both' }
]

const Fcm = ({ saved }: { saved: GatewayCredential[] }) => (
  <GatewaySection
    gateway="fcm"
    title="Google (FCM)"
    saved={saved}
    initialValues={{ service_account: '' }}
    secrets={['service_account']}
    about="In the Firebase console, open Project settings > Service accounts and generate a new private key. Choose the downloaded file here."
  >
    {(form) => <FileField form={form} path="service_account" label="Service account (.json)" />}
  </GatewaySection>
)

const WebPush = ({ saved }: { saved: GatewayCredential[] }) => (
  <GatewaySection
    gateway="webpush"
    title="Browsers (Web Push)"
    saved={saved}
    initialValues={{ subject: '' }}
    about="No account needed: Tidings generates the key pair. Push services require a contact address."
  >
    {(form) => <TextInput {...form.getInputProps('subject')} label="Contact" placeholder="mailto:you@example.com" />}
  </GatewaySection>
)

/** A text field that can also be filled from a file. */
function FileField<Values>({ form, path, label }: { form: Form<Values>; path: string & keyof Values; label: string }) {
  const input = form.getInputProps(path)
  return (
    <Stack gap={4}>
      <Textarea
        {...input}
        label={label}
        autosize
        minRows={2}
        maxRows={6}
        styles={{ input: { fontFamily: 'monospace' } }}
      />
      <FileButton onChange={(file) => void file?.text().then(input.onChange)}>
        {(props) => (
          <Button {...props} variant="default" size="compact-xs" w="fit-content">
            Choose file
          </Button>
        )}
      </FileButton>
    </Stack>
  )
}
