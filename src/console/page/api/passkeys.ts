/** Whether this browser can make and use passkeys here. `origin` is where the service accepts them. */
export const canUsePasskeys = (origin: string | null | undefined): boolean =>
  origin === location.origin &&
  typeof PublicKeyCredential === 'function' &&
  'parseCreationOptionsFromJSON' in PublicKeyCredential

/** Lets the person make a passkey, and returns what the service checks. */
export async function makePasskey(options: object): Promise<object> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as PublicKeyCredentialCreationOptionsJSON)
  return asked(navigator.credentials.create({ publicKey }))
}

/** Lets the person choose a passkey, and returns what the service checks. */
export async function signWithPasskey(options: object): Promise<object> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as PublicKeyCredentialRequestOptionsJSON)
  return asked(navigator.credentials.get({ publicKey }))
}

async function asked(dialog: Promise<Credential | null>): Promise<object> {
  try {
    return ((await dialog) as PublicKeyCredential).toJSON()
  } catch (error) {
    throw new Error(reasons[(error as Error).name] ?? `The passkey did not work: ${(error as Error).message}`)
  }
}

const reasons: Record<string, string> = {
  NotAllowedError: 'Canceled, or no passkey was chosen in time.',
  InvalidStateError: 'This device already has a passkey for your account.',
  SecurityError: 'Passkeys do not work at this address.'
}
