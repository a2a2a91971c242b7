import {
  Alert,
  Badge,
  Button,
  FileButton,
  Group,
  Paper,
  Select,
  Stack,
  Text,
  Textarea,
  TextInput,
  Title
} from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { project } from '../api.ts'
import { Ask } from '../parts/ask.tsx'
import { Failed, Shown } from '../parts/states.tsx'
import { When } from '../parts/texts.tsx'
import { useMay, useProject, useProjectId } from '../who.ts'

type Gateway = 'apns' | 'fcm' | 'webpush'
interface Credential {
  gateway: Gateway
  environment?: string | null
  updated_at: string
  [fact: string]: unknown
}
interface Checked {
  ok: boolean
  credentials: (Credential & { ok: boolean; message: string })[]
}

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
          This project is in simulator mode: it needs none of these until it is live. They can be saved and checked now.
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

/** One gateway: what is saved, the form for another, the check. */
function Section({
  gateway,
  title,
  about,
  saved,
  wish,
  children
}: {
  gateway: Gateway
  title: string
  about: ReactNode
  saved: Credential[]
  wish: object
  children: ReactNode
}) {
  const projectId = useProjectId()
  const may = useMay('admin')
  const queries = useQueryClient()
  const changed = () => queries.invalidateQueries({ queryKey: ['gateways', projectId] })
  const save = useMutation({
    mutationFn: () => project(projectId, 'PUT', `/gateways/${gateway}`, { body: wish }),
    onSuccess: changed
  })
  const check = useMutation({ mutationFn: () => project<Checked>(projectId, 'POST', `/gateways/${gateway}:check`) })
  return (
    <Paper withBorder p="md" component="section" aria-label={title}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4">
            {title}
          </Title>
          <Badge color={saved.length > 0 ? 'teal' : 'gray'} variant="light">
            {saved.length > 0 ? 'set' : 'not set'}
          </Badge>
        </Group>
        {saved.map((credential) => (
          <Text key={JSON.stringify(credential)} size="sm">
            {factsOf(credential)} · saved <When at={credential.updated_at} />
          </Text>
        ))}
        <Text size="sm" c="dimmed" component="div">
          {about}
        </Text>
        {may && children}
        {save.error && <Failed error={save.error} />}
        {check.error && <Failed error={check.error} />}
        {check.data?.credentials.map(({ ok, message, ...credential }) => (
          <Alert key={factsOf(credential as Credential)} color={ok ? 'teal' : 'red'} role="status">
            {message}
          </Alert>
        ))}
        {may && (
          <Group>
            <Button size="xs" onClick={() => save.mutate()} loading={save.isPending}>
              Save
            </Button>
            {saved.length > 0 && (
              <>
                <Button size="xs" variant="light" onClick={() => check.mutate()} loading={check.isPending}>
                  Check it with the gateway
                </Button>
                <Ask
                  label="Remove"
                  question="Pushes through this gateway fail from then on."
                  act={() => project(projectId, 'DELETE', `/gateways/${gateway}`).then(changed)}
                />
              </>
            )}
          </Group>
        )}
      </Stack>
    </Paper>
  )
}

const hidden = new Set(['gateway', 'updated_at', 'created_at', 'version', 'id'])
const factsOf = (credential: Credential) =>
  Object.entries(credential)
    .filter(([name, value]) => !hidden.has(name) && typeof value === 'string' && value)
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${value}`)
    .join(', ')

function Apns({ saved }: { saved: Credential[] }) {
  const [wish, setWish] = useState({ key: '', key_id: '', team_id: '', topic: '', environment: 'both' })
  const field = (name: 'key_id' | 'team_id' | 'topic', label: string) => (
    <TextInput
      label={label}
      value={wish[name]}
      onChange={({ currentTarget }) => setWish({ ...wish, [name]: currentTarget.value })}
    />
  )
  return (
    <Section
      gateway="apns"
      title="Apple (APNs)"
      saved={saved}
      wish={wish}
      about="In Apple’s developer account: Certificates, Identifiers & Profiles, Keys, a key with Apple Push Notifications service. Download the .p8 file; its key id stands beside it, the team id in your membership."
    >
      <FileField label="Key file (.p8)" text={wish.key} set={(key) => setWish({ ...wish, key })} />
      <Group grow>
        {field('key_id', 'Key id')}
        {field('team_id', 'Team id')}
      </Group>
      <Group grow>
        {field('topic', 'Bundle id of the app')}
        <Select
          label="Environment"
          allowDeselect={false}
          value={wish.environment}
          data={['production', 'sandbox', 'both']}
          onChange={(environment) => environment && setWish({ ...wish, environment })}
        />
      </Group>
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
      about="In the Firebase console: project settings, service accounts, generate a new private key. The file it downloads is what is wanted here."
    >
      <FileField label="Service account (.json)" text={text} set={setText} />
    </Section>
  )
}

function WebPush({ saved }: { saved: Credential[] }) {
  const [subject, setSubject] = useState('')
  return (
    <Section
      gateway="webpush"
      title="Browsers (Web Push)"
      saved={saved}
      wish={{ subject }}
      about="No account is needed: a pair of keys is made here. Push services want an address to reach you."
    >
      <TextInput
        label="Contact"
        placeholder="mailto:you@example.com"
        value={subject}
        onChange={({ currentTarget }) => setSubject(currentTarget.value)}
      />
    </Section>
  )
}

const FileField = ({ label, text, set }: { label: string; text: string; set: (text: string) => void }) => (
  <Stack gap={4}>
    <Textarea
      label={label}
      value={text}
      onChange={({ currentTarget }) => set(currentTarget.value)}
      autosize
      minRows={2}
      maxRows={6}
      styles={{ input: { fontFamily: 'monospace' } }}
    />
    <FileButton onChange={(file) => void file?.text().then(set)}>
      {(props) => (
        <Button {...props} variant="default" size="compact-xs" w="fit-content">
          Choose the file
        </Button>
      )}
    </FileButton>
  </Stack>
)
