import { hash } from 'node:crypto'
import { isIP } from 'node:net'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { Db, Pool } from '../../platform/db/db.ts'
import { Refusal } from '../../platform/errors.ts'
import { refusing } from '../../platform/fields.ts'
import type { Log } from '../../platform/log.ts'
import { lockMember } from '../store.ts'
import { challengeEnd, challengeSeconds, newChallenge, type Purpose } from './challenges.ts'
import * as store from './store.ts'

export { type PasskeyRow, removePasskeysOf, sweepChallenges } from './store.ts'

/** The account for which a passkey is made. */
export interface Account {
  /** How the authenticator names the account: the id of the member, or what stands for it before there is one. */
  handle: string
  name: string
  email: string
}

export interface PasskeyNeeds {
  pool: Pool
  key: Buffer
  log: Log
  /** PASSWORD_SIGN_IN. */
  passwords: boolean
}

export type Passkeys = ReturnType<typeof createPasskeys>

const notAccepted = 'This passkey is not accepted.'
const timedOut = 'The request to your passkey has expired. Try again.'

/** A refused sign-in is 401; a refused registration is not, because the page of a signed-in member would sign out. */
const refused = (purpose: Purpose, reason: string) =>
  purpose === 'sign-in' ? new Refusal('invalid_sign_in', reason) : refusing('invalid_parameter')('response', reason)

/** Ed25519, P-256 and RSA, which every authenticator has one of. The library's default tries a newer, experimental one. */
const supportedAlgorithmIDs = [-8, -7, -257]

/** Passkeys of members. `baseUrl` is the address of the service as the browser sees it; a passkey is bound to its host. */
export function createPasskeys({ pool, key, log, passwords }: PasskeyNeeds) {
  // Loaded at the first use, because it takes 0.3 s that a start does not need.
  const library = () => import('@simplewebauthn/server')

  /** The library asks for a check of the challenge, and whatever it then refuses is a refusal of the caller. */
  async function checked<Result>(purpose: Purpose, work: (isOurs: (challenge: string) => boolean) => Promise<Result>) {
    let spent: { hash: Buffer; end: Date } | undefined
    const isOurs = (challenge: string) => {
      const end = challengeEnd(key, purpose, challenge)
      if (end) spent = { hash: hash('sha256', challenge, 'buffer'), end }
      return end !== undefined
    }
    try {
      const result = await work(isOurs)
      return { result, spent: spent! }
    } catch (error) {
      if (error instanceof Refusal) throw error
      log.info({ purpose: purpose.split(' ')[0], reason: (error as Error).message }, 'a passkey was refused')
      throw refused(purpose, spent ? notAccepted : timedOut)
    }
  }

  async function spend(db: Db, purpose: Purpose, { hash: spent, end }: { hash: Buffer; end: Date }): Promise<void> {
    if (!(await store.spendChallenge(db, spent, end))) throw refused(purpose, timedOut)
  }

  return {
    /** What the browser hands to the authenticator to make a passkey. `memberId` is absent for a new member. */
    async registrationOptions(baseUrl: string, { handle, name, email }: Account, memberId?: string) {
      const { rpID } = siteOf(baseUrl)
      const { generateRegistrationOptions } = await library()
      const known = memberId === undefined ? [] : await store.passkeysOf(pool, memberId)
      if (known.length >= store.mostPasskeys)
        throw new Refusal('conflict', `A member has at most ${store.mostPasskeys} passkeys. Remove one first.`)
      return generateRegistrationOptions({
        rpName: 'Tidings',
        rpID,
        userID: new Uint8Array(Buffer.from(handle)),
        userName: email || name,
        userDisplayName: name || email,
        challenge: challengeBytes(newChallenge(key, `register ${handle}`)),
        timeout: challengeSeconds * 1_000,
        supportedAlgorithmIDs,
        attestationType: 'none',
        excludeCredentials: known.filter(({ rp_id }) => rp_id === rpID).map(({ credential_id: id }) => ({ id })),
        // A passkey replaces email and password, so it must be found without the first and verify its holder.
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' }
      })
    },

    /** Checks what an authenticator made. The result stores it for a member, in the transaction of the caller. */
    async check(baseUrl: string, handle: string, { response, name }: { response: object; name: string }) {
      const { origin, rpID } = siteOf(baseUrl)
      const purpose: Purpose = `register ${handle}`
      const { verifyRegistrationResponse } = await library()
      const { result, spent } = await checked(purpose, (expectedChallenge) =>
        verifyRegistrationResponse({
          response: response as RegistrationResponseJSON,
          expectedChallenge,
          expectedOrigin: origin,
          expectedRPID: rpID,
          supportedAlgorithmIDs,
          requireUserVerification: true
        })
      )
      if (!result.verified) throw refused(purpose, notAccepted)
      const { id, publicKey, counter, transports = [] } = result.registrationInfo.credential
      return async (tx: Db, memberId: string): Promise<store.PasskeyRow> => {
        await spend(tx, purpose, spent)
        const made = await store.insertPasskey(tx, {
          member_id: memberId,
          credential_id: id,
          rp_id: rpID,
          public_key: Buffer.from(publicKey),
          user_handle: handle,
          counter,
          transports: transports.filter((one) => typeof one === 'string' && one.length <= 32).slice(0, 8),
          name
        })
        if (!made) throw new Refusal('conflict', 'This passkey is registered already.')
        return made
      }
    },

    /** What the browser hands to the authenticator to sign in. It names no member: the person chooses a passkey. */
    async signInOptions(baseUrl: string) {
      const { rpID } = siteOf(baseUrl)
      const { generateAuthenticationOptions } = await library()
      return generateAuthenticationOptions({
        rpID,
        challenge: challengeBytes(newChallenge(key, 'sign-in')),
        timeout: challengeSeconds * 1_000,
        userVerification: 'required'
      })
    },

    /** Returns the member whose passkey signed the challenge. */
    async signIn(baseUrl: string, response: object): Promise<string> {
      const { origin, rpID } = siteOf(baseUrl)
      const { verifyAuthenticationResponse } = await library()
      const given = response as AuthenticationResponseJSON
      const passkey = isCredentialId(given.id) ? await store.findPasskey(pool, given.id) : undefined
      // A passkey of another address of this service is no passkey here, whatever the request says about its own address.
      if (!passkey || passkey.rp_id !== rpID) throw refused('sign-in', notAccepted)
      const { credential_id: id, public_key, counter, user_handle, member_id } = passkey
      const { result, spent } = await checked('sign-in', (expectedChallenge) =>
        verifyAuthenticationResponse({
          response: given,
          expectedChallenge,
          expectedOrigin: origin,
          expectedRPID: rpID,
          credential: { id, publicKey: new Uint8Array(public_key), counter: Number(counter) },
          requireUserVerification: true
        })
      )
      const handle = given.response.userHandle
      if (!result.verified || (handle && fromBase64(handle) !== user_handle)) throw refused('sign-in', notAccepted)
      await pool.transaction(async (tx) => {
        await spend(tx, 'sign-in', spent)
        const counted = await store.recordUse(tx, id, result.authenticationInfo.newCounter)
        if (!counted) throw refused('sign-in', notAccepted)
      })
      return member_id
    },

    list: (memberId: string) => store.passkeysOf(pool, memberId),
    rename: (memberId: string, id: string, name: string) => store.renamePasskey(pool, memberId, id, name),
    /** Removes a passkey, unless nothing else could sign the member in. Returns false if there is none. */
    async remove(tx: Db, memberId: string, id: string): Promise<boolean> {
      const member = await lockMember(tx, memberId)
      const others = (await store.passkeysOf(tx, memberId)).filter((each) => each.id !== id)
      if (others.length === 0 && !(passwords && member?.has_password))
        throw new Refusal('conflict', 'This is your only way to sign in. Add another passkey or a password first.')
      return (await store.removePasskey(tx, memberId, id)) !== undefined
    }
  }
}

const isCredentialId = (id: unknown): id is string => typeof id === 'string' && /^[\w-]{1,1400}$/.test(id)

const fromBase64 = (text: string) => Buffer.from(text, 'base64url').toString()

const challengeBytes = (challenge: string) => new Uint8Array(Buffer.from(challenge, 'base64url'))

/** The origin of the console, if browsers make passkeys there: for host names, and not for IP addresses. */
export function passkeyOrigin(baseUrl: string): string | null {
  const { origin, hostname } = new URL(baseUrl)
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? origin : null
}

/** The origin that a browser signs, and the host name that a passkey is bound to. */
function siteOf(baseUrl: string): { origin: string; rpID: string } {
  const origin = passkeyOrigin(baseUrl)
  if (origin === null)
    throw new Refusal(
      'invalid_parameter',
      'Passkeys need a host name: open the console by its name, or on this machine as localhost.'
    )
  return { origin, rpID: new URL(origin).hostname }
}
