import type { PersonalLink } from '../../../wire.ts'
import { browser } from './client.ts'
import { signWithPasskey } from './passkeys.ts'
import type { Identity } from './session.ts'

type Proof = { token: string } | { code: string } | { email: string; password: string }

export const signIn = (proof: Proof) => browser<Identity>('POST', '/console/session', proof)

/** The browser shows the passkeys that it has for this address, and the person chooses one. */
export async function signInWithPasskey(): Promise<Identity> {
  const options = await browser<object>('POST', '/console/passkeys:options')
  return browser('POST', '/console/passkeys:sign-in', { response: await signWithPasskey(options) })
}

export interface NewAccount {
  name: string
  email: string
  password?: string
  /** What an authenticator made, instead of a password. */
  passkey?: object
}

/** How the person will sign in from now on. */
const proofOf = ({ password, passkey }: NewAccount) => (passkey ? { passkey: { response: passkey } } : { password })

export const readLink = (code: string) => browser<PersonalLink>('POST', '/console/link', { code })

/** Accepts an invitation or sets a new password, and signs in. */
export const acceptLink = (code: string, account: NewAccount) =>
  browser<Identity>('POST', '/console/link:accept', {
    code,
    ...(account.name && { name: account.name }),
    ...proofOf(account)
  })

export const linkPasskeyOptions = (code: string, { name }: NewAccount) =>
  browser<object>('POST', '/console/link:passkey-options', { code, ...(name && { name }) })

/** Makes the first member of the installation, and signs in as that member. */
export const makeFirstMember = ({ name, email, ...proof }: NewAccount) =>
  browser<Identity>('POST', '/console/member', { name, email, ...proofOf({ name, email, ...proof }) })

export const firstPasskeyOptions = ({ name, email }: NewAccount) =>
  browser<object>('POST', '/console/member:passkey-options', { name, email })
