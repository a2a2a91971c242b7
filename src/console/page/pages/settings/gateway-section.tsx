import { Alert, Badge, Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { GatewayCheck, GatewayCredential } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { type Form, useApiForm } from '../../parts/forms/api-form.ts'
import { ConfirmButton } from '../../parts/forms/confirm-button.tsx'
import { ErrorAlert } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'
import { toast } from '../../parts/toasts.tsx'

/** One gateway: the saved credentials, the form that replaces them, and their check. */
export function GatewaySection<Values extends object>({
  gateway,
  title,
  about,
  saved,
  initialValues,
  secrets = [],
  children
}: {
  gateway: 'apns' | 'fcm' | 'webpush'
  title: string
  about: ReactNode
  saved: GatewayCredential[]
  initialValues: Values
  /** Fields that a reload forgets: they are stored nowhere in the browser. */
  secrets?: (keyof Values)[]
  children: (form: Form<Values>) => ReactNode
}) {
  const projectId = useProjectId()
  const canEdit = useHasRole('admin')
  const queries = useQueryClient()
  const changed = () => queries.invalidateQueries({ queryKey: ['gateways', projectId] })
  const path = `/gateways/${gateway}`
  const { form, sending, onSubmit } = useApiForm({
    initialValues,
    send: (values) => project(projectId, 'PUT', path, { body: values }),
    onSuccess: () => {
      // A secret that was saved has no reason to stay on the screen.
      for (const name of secrets) form.setFieldValue(name as string, initialValues[name] as never)
      toast(`${title} credentials saved.`)
      return changed()
    },
    draft: { name: gateway, omit: secrets }
  })
  return (
    <Paper withBorder p="md" component="section" aria-label={title}>
      <form onSubmit={onSubmit}>
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
              <span style={{ overflowWrap: 'anywhere' }}>{factsOf(credential)}</span> · saved{' '}
              <When at={credential.updated_at} />
              {credential.updated_by_name && ` by ${credential.updated_by_name}`}
            </Text>
          ))}
          <Text size="sm" c="dimmed" component="div">
            {about}
          </Text>
          {canEdit && children(form)}
          {sending.error && <ErrorAlert error={sending.error} />}
          {canEdit && (
            <Group>
              <Button type="submit" size="xs" loading={sending.isPending}>
                Save
              </Button>
              {saved.length > 0 && (
                <>
                  <Verify path={path} />
                  <ConfirmButton
                    label="Remove"
                    title="Remove credentials?"
                    question="Pushes through this gateway will fail."
                    act={() => project(projectId, 'DELETE', path).then(changed)}
                  />
                </>
              )}
            </Group>
          )}
        </Stack>
      </form>
    </Paper>
  )
}

/** Asks the gateway whether it accepts the saved credentials. */
function Verify({ path }: { path: string }) {
  const projectId = useProjectId()
  const check = useMutation({ mutationFn: () => project<GatewayCheck>(projectId, 'POST', `${path}:check`) })
  return (
    <>
      <Button size="xs" variant="light" onClick={() => check.mutate()} loading={check.isPending}>
        Verify
      </Button>
      {check.error && <ErrorAlert error={check.error} />}
      {check.data?.credentials.map(({ ok, message, ...credential }) => (
        <Alert key={factsOf(credential)} color={ok ? 'teal' : 'red'} role="status" w="100%">
          {message}
        </Alert>
      ))}
    </>
  )
}

const hidden = new Set(['gateway', 'updated_at', 'created_at', 'version', 'id', 'updated_by', 'updated_by_name'])
const factsOf = (credential: object) =>
  Object.entries(credential)
    .filter(([name, value]) => !hidden.has(name) && typeof value === 'string' && value)
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${value}`)
    .join(', ')
