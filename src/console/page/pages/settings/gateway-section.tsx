import { Alert, Badge, Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { project } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { ErrorAlert } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'

type Gateway = 'apns' | 'fcm' | 'webpush'
export interface Credential {
  gateway: Gateway
  environment?: string | null
  updated_at: string
  [fact: string]: unknown
}
interface Checked {
  ok: boolean
  credentials: (Credential & { ok: boolean; message: string })[]
}

/** One gateway: what is saved, the form for another, the check. */
export function Section({
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
  children: (problem: (field: string) => string | undefined) => ReactNode
}) {
  const projectId = useProjectId()
  const may = useHasRole('admin')
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
            {saved.length > 0 ? 'Configured' : 'Not configured'}
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
        {may && children((name) => fieldError(save.error, name))}
        {save.error && <ErrorAlert error={save.error} />}
        {check.error && <ErrorAlert error={check.error} />}
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
                  Verify
                </Button>
                <ConfirmButton
                  label="Remove"
                  question="Pushes through this gateway will fail."
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
