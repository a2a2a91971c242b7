import { Alert, Button, FileButton, Group, Select, Stack, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { project } from '../../api/client.ts'
import { useProject, useProjectId } from '../../api/session.ts'
import { useSessionState } from '../../parts/session-state.ts'
import { Shown } from '../../parts/states.tsx'
import { type Credential, Section } from './gateway-section.tsx'

/** Guided: what it is, where to get it, and whether it works. */
export function Gateways() {
  const projectId = useProjectId()
  const known = useProject()
  const saved = useQuery({
    queryKey: ['gateways', projectId],
    queryFn: () => project<{ items: Credential[] }>(projectId, 'GET', '/gateways')
  })
  return (
    <Stack maw={720}>
      {known?.mode === 'simulator' && (
        <Alert color="orange">
          Simulator mode needs no credentials. You can save and verify them before you go live.
        </Alert>
      )}
      <Shown query={saved}>
        {({ items }) => (
          <>
            <Apns saved={items.filter(({ gateway }) => gateway === 'apns')} />
            <Fcm saved={items.filter(({ gateway }) => gateway === 'fcm')} />
            <WebPush saved={items.filter(({ gateway }) => gateway === 'webpush')} />
          </>
        )}
      </Shown>
    </Stack>
  )
}

const environments = [
  { value: 'production', label: 'Production' },
  { value: 'sandbox', label: 'Sandbox' },
  { value: 'both', label: 'Both' }
]

function Apns({ saved }: { saved: Credential[] }) {
  // Keys are secrets: they are nowhere but in this page, and a reload forgets them.
  const [key, setKey] = useState('')
  const [wish, setWish] = useSessionState('apns', { key_id: '', team_id: '', topic: '', environment: 'both' })
  const field = (
    name: 'key_id' | 'team_id' | 'topic',
    label: string,
    problem: (field: string) => string | undefined
  ) => (
    <TextInput
      label={label}
      value={wish[name]}
      error={problem(name)}
      onChange={({ currentTarget }) => setWish({ ...wish, [name]: currentTarget.value })}
    />
  )
  return (
    <Section
      gateway="apns"
      title="Apple (APNs)"
      saved={saved}
      wish={{ key, ...wish }}
      about="In your Apple Developer account, open Certificates, Identifiers & Profiles > Keys and create a key with Apple Push Notifications service (APNs). Download its .p8 file. The key page shows the key ID; Membership details show the team ID."
    >
      {(problem) => (
        <>
          <FileField label="Key file (.p8)" text={key} set={setKey} error={problem('key')} />
          <Group grow align="start">
            {field('key_id', 'Key ID', problem)}
            {field('team_id', 'Team ID', problem)}
          </Group>
          <Group grow align="start">
            {field('topic', 'Bundle ID', problem)}
            <Select
              label="Environment"
              allowDeselect={false}
              value={wish.environment}
              error={problem('environment')}
              data={environments}
              onChange={(environment) => environment && setWish({ ...wish, environment })}
            />
          </Group>
        </>
      )}
    </Section>
  )
}

function Fcm({ saved }: { saved: Credential[] }) {
  const [text, setText] = useState('')
  return (
    <Section
      gateway="fcm"
      title="Google (FCM)"
      saved={saved}
      wish={{ service_account: text }}
      about="In the Firebase console, open Project settings > Service accounts and generate a new private key. Choose the downloaded file here."
    >
      {(problem) => (
        <FileField label="Service account (.json)" text={text} set={setText} error={problem('service_account')} />
      )}
    </Section>
  )
}

function WebPush({ saved }: { saved: Credential[] }) {
  const [subject, setSubject] = useSessionState('webpush subject', '')
  return (
    <Section
      gateway="webpush"
      title="Browsers (Web Push)"
      saved={saved}
      wish={{ subject }}
      about="No account needed: Tidings generates the key pair. Push services require a contact address."
    >
      {(problem) => (
        <TextInput
          label="Contact"
          placeholder="mailto:you@example.com"
          value={subject}
          error={problem('subject')}
          onChange={({ currentTarget }) => setSubject(currentTarget.value)}
        />
      )}
    </Section>
  )
}

const FileField = ({
  label,
  text,
  set,
  error
}: {
  label: string
  text: string
  set: (text: string) => void
  error: string | undefined
}) => (
  <Stack gap={4}>
    <Textarea
      label={label}
      value={text}
      error={error}
      onChange={({ currentTarget }) => set(currentTarget.value)}
      autosize
      minRows={2}
      maxRows={6}
      styles={{ input: { fontFamily: 'monospace' } }}
    />
    <FileButton onChange={(file) => void file?.text().then(set)}>
      {(props) => (
        <Button {...props} variant="default" size="compact-xs" w="fit-content">
          Choose file
        </Button>
      )}
    </FileButton>
  </Stack>
)
