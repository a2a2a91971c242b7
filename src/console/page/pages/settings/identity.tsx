import { Group, Select, Stack, Switch, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { IdentitySecret, Project } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProject } from '../../api/session.ts'
import { CreateSecret } from '../../parts/forms/create-secret.tsx'
import { ErrorAlert } from '../../parts/states.tsx'
import { overlaps } from './key-forms.tsx'

/** Whether apps must prove who their user is, and the secret with which a backend signs the proof. */
export function IdentityVerification() {
  const found = useProject()
  const queries = useQueryClient()
  const change = useMutation({
    mutationFn: (on: boolean) => project<Project>(found!.id, 'PATCH', '', { body: { identity_verification: on } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['projects'] })
  })
  if (!found) return null
  return (
    <Stack component="section" aria-label="Identity verification" gap="xs" mt="xl" maw={640}>
      <Title order={2} size="h4">
        Identity verification
      </Title>
      <Switch
        label="Apps must prove who their user is"
        description="Calls with a public key that link a user or change properties and preferences need a token that your backend signs: X-Service-User-Token."
        checked={found.identity_verification}
        disabled={change.isPending}
        onChange={({ currentTarget: { checked } }) => change.mutate(checked)}
      />
      {change.error && <ErrorAlert error={change.error} />}
      <Group>
        <CreateSecret
          label="New signing secret"
          what="secret"
          warning="This is the only time the secret is shown. Store it securely."
          initialValues={{ overlap: '24h' }}
          create={(body) => project<IdentitySecret>(found.id, 'POST', '/identity-secret:rotate', { body })}
          secretOf={({ secret }) => secret}
          done={() => undefined}
          small
          fields={(form) => (
            <>
              <Text size="sm">Your backend signs tokens with it (HS256).</Text>
              <Select
                {...form.getInputProps('overlap')}
                label="Keep the previous secret valid for"
                allowDeselect={false}
                data={overlaps}
              />
            </>
          )}
        />
      </Group>
    </Stack>
  )
}
