import type { ProjectId } from '../../platform/ids.ts'
import type { GatewayName, PushEnvironment } from '../push.ts'

interface Common {
  id: string
  /** Changes with every save: connections of an older version are closed. */
  version: number
  projectId: ProjectId
  /** The origin of the gateway. Empty for Web Push, where each subscription names its own. */
  origin: string
  /** Whether it leads to a simulator: a project in simulator mode never reaches a real gateway. */
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
  /** The host that manages broadcast channels. */
  channelsOrigin: string
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

/** One entry to store: `secret` is sealed; everyone who may read the project may read `facts`. */
export interface Saved<Secret> {
  environment: PushEnvironment | ''
  app: string
  secret: Secret
  facts: Record<string, string>
}

export type Credential = ApnsCredential | FcmCredential | WebPushCredential

export interface CredentialSource {
  /**
   * Null if the project has no credential for the push. Cheap enough to call for every push: cached, and updated soon
   * after a change.
   */
  find(
    projectId: ProjectId,
    gateway: GatewayName,
    environment: PushEnvironment,
    app: string | null
  ): Promise<Credential | null>
}

/**
 * No token could be obtained. `refused`: the gateway does not accept the credential, and another attempt will not help.
 */
export class ProviderTokenFailed extends Error {
  override readonly name = 'ProviderTokenFailed'
  readonly kind: 'refused' | 'unavailable'

  constructor(kind: 'refused' | 'unavailable', message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

/** Provider tokens that credentials are exchanged for, shared by all processes (APNs counts them per team). */
export interface ProviderTokens {
  /**
   * Returns the token to present now. `refused` is a token that the gateway called expired: one node then makes a newer
   * one for all. A token that is too young to be replaced (APNs: 20 minutes) is returned again; the caller should then
   * wait instead of asking again. Throws `ProviderTokenFailed`, or `Unavailable` if the database cannot be reached.
   */
  of(credential: ApnsCredential | FcmCredential, refused?: string): Promise<string>
}
