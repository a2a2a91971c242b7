import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Passkey } from '../../../../wire.ts'
import { manage } from '../../api/client.ts'
import { canUsePasskeys, makePasskey } from '../../api/passkeys.ts'
import { useWays } from '../../api/session.ts'
import { ConfirmButton } from '../../parts/forms/confirm-button.tsx'
import { ErrorAlert, Loaded } from '../../parts/states.tsx'
import { SimpleTable } from '../../parts/table.tsx'
import { Clip, DocsLink, When } from '../../parts/texts.tsx'
import { toast } from '../../parts/toasts.tsx'
import { RenamePasskey } from './rename-passkey.tsx'

/** The passkeys of the member, with a button that adds one of this device. */
export function Passkeys() {
  const queries = useQueryClient()
  const usable = canUsePasskeys(useWays()?.passkey)
  const renew = () => queries.invalidateQueries({ queryKey: ['passkeys'] })
  const passkeys = useQuery({
    queryKey: ['passkeys'],
    queryFn: () => manage<{ items: Passkey[] }>('GET', '/account/passkeys')
  })
  const adding = useMutation({
    mutationFn: async () => {
      const options = await manage<object>('POST', '/account/passkeys:options')
      return manage<Passkey>('POST', '/account/passkeys', { body: { response: await makePasskey(options) } })
    },
    onSuccess: ({ name }) => {
      toast(`Passkey “${name}” added`)
      return renew()
    }
  })
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        Sign in with your fingerprint, your face, a PIN or a security key instead of a password.{' '}
        <DocsLink to="guides/people#passkeys" />
      </Text>
      <Loaded query={passkeys}>
        {({ items }) =>
          items.length === 0 ? (
            <Text size="sm">You have no passkeys yet.</Text>
          ) : (
            <SimpleTable
              label="Your passkeys"
              items={items}
              keyOf={({ id }) => id}
              columns={[
                { name: 'Name', show: ({ name }) => <Clip width={180}>{name}</Clip> },
                { name: 'Created', show: ({ created_at }) => <When at={created_at} /> },
                { name: 'Last used', show: ({ last_used_at }) => <When at={last_used_at} /> },
                {
                  name: 'Actions',
                  show: (passkey) => (
                    <Group gap="xs" wrap="nowrap">
                      <RenamePasskey passkey={passkey} done={renew} />
                      <ConfirmButton
                        label="Remove"
                        title="Remove passkey?"
                        question={`“${passkey.name}” can no longer sign you in.`}
                        act={() => manage('DELETE', `/account/passkeys/${passkey.id}`).then(renew)}
                      />
                    </Group>
                  )
                }
              ]}
            />
          )
        }
      </Loaded>
      {adding.error && <ErrorAlert error={adding.error} />}
      {usable ? (
        <Group>
          <Button variant="default" onClick={() => adding.mutate()} loading={adding.isPending}>
            Add a passkey
          </Button>
        </Group>
      ) : (
        <Text size="sm">
          Passkeys work over https at the name of this service, and on this machine at localhost. This address is{' '}
          {location.host}.
        </Text>
      )}
    </Stack>
  )
}
