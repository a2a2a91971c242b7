import type { IdentitySecret } from '../../wire.ts'
import { record, time } from '../output.ts'
import type { Resource } from '../resource.ts'
import { type Common, tell } from '../session.ts'

/** `choose` makes `[id]` the project of the command. */
export function declareIdentitySecret(
  chosen: Resource,
  choose: (options: Common, id: string | undefined) => void
): void {
  chosen.verb<{ overlap?: string }>(
    {
      usage: 'identity-secret [id]',
      about: 'Make the secret that signs the tokens of users; it is shown only now',
      examples: ['tidings project identity-secret shop', 'tidings project identity-secret shop --overlap 0s'],
      more: `Your backend signs a token for each logged-in user with it (HS256, sub and exp).
\`tidings project update --identity-verification on\` makes apps send it.`,
      options: (command) =>
        command.option('--overlap <duration>', 'How long the previous secret still works (default: 24h)'),
      check: choose
    },
    async (session, { overlap }) => {
      const body = overlap === undefined ? {} : { overlap }
      const path = chosen.at(session, undefined, '/identity-secret:rotate')
      const made = await session.client.json<IdentitySecret>('POST', path, { body })
      const previous = made.previous_until && `The previous one works until ${time(made.previous_until)}.`
      tell(
        session,
        made,
        [record([['Secret', made.secret]]), 'It is not shown again.', previous].filter(Boolean).join('\n')
      )
    }
  )
}
