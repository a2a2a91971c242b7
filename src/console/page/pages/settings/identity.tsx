import { Group, Select, Stack, Text, Title } from '@mantine/core'
import type { IdentitySecret } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProject } from '../../api/session.ts'
import { CreateSecret } from '../../parts/forms/create-secret.tsx'
import { overlaps } from './key-forms.tsx'
import { ProjectSwitch } from './project-switch.tsx'

/** Whether apps must prove who their user is, and the secret with which a backend signs the proof. */
export function IdentityVerification() {
  const found = useProject()
  if (!found) return null
  return (
    <Stack component="section" aria-label="Identity verification" gap="xs" mt="xl" maw={640}>
      <Title order={2} size="h4">
        Identity verification
      </Title>
      <ProjectSwitch
        of={found}
        setting="identity_verification"
        label="Apps must prove who their user is"
        description="Calls with a public key that link a user or change properties and preferences need a token that your backend signs: X-Service-User-Token."
      />
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
