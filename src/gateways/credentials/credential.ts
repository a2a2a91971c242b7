import type { ProjectId } from '../../platform/ids.ts'
import type { GatewayName, PushEnvironment } from '../push.ts'

interface Common {
  id: string
  /** Changes with every save: connections of an older version are closed. */
  version: number
  projectId: ProjectId
  /** The origin of the gateway. Empty for Web Push, where each subscription names its own. */
  origin: string
  /** Of the simulator: a project in that mode never reaches a real gateway. */
  simulated: boolean
  /** PEM of the authority to trust instead of the system's; only for simulators. */
  ca?: string
}

export interface ApnsCredential extends Common {
  gateway: 'apns'
  environment: PushEnvironment
  keyId: string
  teamId: string
  /** PEM, PKCS 8. */
  privateKey: string
  /** The bundle id. */
  topic: string
}

export interface FcmCredential extends Common {
  gateway: 'fcm'
  firebaseProject: string
  clientEmail: string
  privateKeyId: string
  privateKey: string
  tokenUri: string
}

export interface WebPushCredential extends Common {
  gateway: 'webpush'
  /** mailto: or https:, for the push service to reach the operator. */
  subject: string
  /** Uncompressed P-256 point, base64url. */
  publicKey: string
  privateKey: string
}

/** One entry to be stored: `secret` is sealed, everyone who may see the project sees `facts`. */
export interface Saved<Secret> {
  environment: PushEnvironment | ''
  app: string
  secret: Secret
  facts: Record<string, string>
}

export type Credential = ApnsCredential | FcmCredential | WebPushCredential

export interface CredentialSource {
  /** Null where the project has none for it. Cheap to call for every push: cached, and fresh soon after a change. */
  find(
    projectId: ProjectId,
    gateway: GatewayName,
    environment: PushEnvironment,
    app: string | null
  ): Promise<Credential | null>
}

/** There is no token. `refused`: the gateway does not accept the credential, and trying again will not help. */
export class ProviderTokenFailed extends Error {
  override readonly name = 'ProviderTokenFailed'
  readonly kind: 'refused' | 'unavailable'

  constructor(kind: 'refused' | 'unavailable', message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

/** Tokens that the credentials are exchanged for, shared by all processes (APNs counts them per team). */
export interface ProviderTokens {
  /**
   * The value to present now. `refused` is one that the gateway called expired: a newer one is made, once for all nodes. A
   * token that is too young to be replaced (APNs: 20 minutes) is returned again: then wait instead of asking once more.
   * Throws `ProviderTokenFailed`, or `Unavailable` when the database is away.
   */
  of(credential: ApnsCredential | FcmCredential, refused?: string): Promise<string>
}
