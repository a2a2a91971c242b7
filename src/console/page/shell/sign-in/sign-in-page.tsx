import { Alert, Anchor, Button, Collapse, Divider, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { canUsePasskeys } from '../../api/passkeys.ts'
import { useWays } from '../../api/session.ts'
import { DocsLink } from '../../parts/texts.tsx'
import { Card } from './card.tsx'
import type { Done } from './done.ts'
import { PasskeyButton } from './passkey-button.tsx'
import { PasswordForm } from './password-form.tsx'
import { TokenForm } from './token-form.tsx'

/** Why a sign-in by the provider has failed, by the name behind the #. */
const problems: Record<string, (provider: string) => string> = {
  unreachable: (provider) => `${provider} cannot be reached, or is not an OpenID Connect provider. Try again later.`,
  misconfigured: (provider) =>
    `${provider} refused the settings of this service. Its log has the reason; ask an admin.`,
  declined: (provider) => `You did not allow the sign-in at ${provider}.`,
  expired: () => 'The sign-in took too long, or began in another browser. Try again.',
  failed: (provider) => `The response of ${provider} was not valid. Try again.`,
  no_role: (provider) => `You have no access: none of your groups at ${provider} has a role here. Ask an admin.`
}

export function SignInPage({ done, problem }: { done: Done; problem: string | undefined }) {
  const ways = useWays()
  const passkeys = canUsePasskeys(ways?.passkey)
  const provider = ways?.oidc
  const sentence = problem === undefined ? undefined : problems[problem]?.(provider ?? 'The provider')
  const [token, { toggle }] = useDisclosure(!ways?.password && !provider && !passkeys)
  return (
    <Card title="Sign in to Tidings">
      {sentence && (
        <Alert color="red" role="alert">
          {sentence}
        </Alert>
      )}
      {provider && (
        <Button component="a" href={providerLink()}>
          Sign in with {provider}
        </Button>
      )}
      {passkeys && <PasskeyButton done={done} />}
      {ways?.password && (
        <>
          {(provider || passkeys) && <Divider label="or" />}
          <PasswordForm done={done} />
        </>
      )}
      <Text size="sm" c="dimmed">
        No account yet? Open the link printed at the first start or by <code>tidings console</code>, or ask an admin for
        an invitation. <DocsLink to="guides/people">How sign-in works</DocsLink>
      </Text>
      <Anchor component="button" type="button" fz="sm" onClick={toggle} aria-expanded={token} ta="start">
        Use a management token
      </Anchor>
      <Collapse expanded={token}>{token && <TokenForm done={done} />}</Collapse>
    </Card>
  )
}

/** The provider leads back to the page that is open now. */
const providerLink = () =>
  `/console/oidc?${new URLSearchParams({ page: location.pathname + location.search }).toString()}`
