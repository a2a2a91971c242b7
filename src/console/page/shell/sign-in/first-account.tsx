import { Button } from '@mantine/core'
import { firstPasskeyOptions, makeFirstMember } from '../../api/people.ts'
import { AccountForm } from './account-form.tsx'
import { Card } from './card.tsx'
import type { Done } from './done.ts'

/** After the link of the first start: the person who opened it becomes the first member. */
export function FirstAccount({ done, skip }: { done: Done; skip: () => void }) {
  return (
    <Card
      title="Create your account"
      about="You become the first admin and can invite your team. Programs use keys and tokens."
    >
      <AccountForm
        asks={['name', 'email']}
        label="Create account"
        send={makeFirstMember}
        passkeyOptions={firstPasskeyOptions}
        done={done}
      />
      <Button variant="subtle" onClick={skip}>
        Skip for now
      </Button>
    </Card>
  )
}
