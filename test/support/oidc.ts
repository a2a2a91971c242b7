import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'

export interface Person {
  sub: string
  name?: string
  email?: string
  email_verified?: boolean
  groups?: string[] | string
}

export interface OidcProvider {
  issuer: string
  settings: Record<string, string>
  /** The person who is signed in at the provider. Changes count from the next sign-in on. */
  person: Person
  /** Refuses every request until `start`. */
  stop(): Promise<void>
  start(): Promise<void>
}

/** The parts of oidc-provider that the tests use; the package has no types. */
interface Library {
  default: new (
    issuer: string,
    configuration: object
  ) => {
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>
    Grant: new (given: object) => { addOIDCScope(scope: string): void; save(): Promise<string> }
  }
}

const signing = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' })
const clientId = 'tidings'
const clientSecret = 'a secret of the client'.replaceAll(' ', '-')

/**
 * Starts a real OpenID Connect provider, which signs `person` in without asking. `redirectUris` are the addresses to
 * which it lets a browser return.
 */
export async function startOidcProvider(redirectUris: () => string[]): Promise<OidcProvider> {
  const name: string = 'oidc-provider'
  const { default: Provider } = (await import(name)) as Library
  const state = { person: { sub: 'unset' } as Person }
  let port = 0
  let server: Server | undefined
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => {}

  async function start(): Promise<void> {
    server = createServer((request, response) => handle(request, response))
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  }

  async function stop(): Promise<void> {
    const closing = server
    server = undefined
    closing?.closeAllConnections()
    if (closing) await new Promise((resolve) => closing.close(resolve))
  }

  await start()
  after(stop)
  const issuer = `http://127.0.0.1:${port}`
  const makeServer = () => {
    const provider = new Provider(issuer, {
      clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: redirectUris() }],
      cookies: { keys: ['test'] },
      jwks: { keys: [{ ...signing, use: 'sig' }] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: async () => state.person }),
      // Everything that the client asks for is granted.
      async loadExistingGrant({ oidc }: { oidc: { client: { clientId: string }; session: { accountId: string } } }) {
        const grant = new provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
        grant.addOIDCScope('openid email profile groups')
        await grant.save()
        return grant
      }
    })
    const serve = provider.callback()
    const signedIn = () => ({ login: { accountId: state.person.sub, remember: false } })
    return (request: IncomingMessage, response: ServerResponse) => {
      if (!request.url?.startsWith('/interaction/')) return serve(request, response)
      void provider.interactionFinished(request, response, signedIn())
    }
  }
  // Made at the first request: the address of the service is known by then.
  handle = (request, response) => {
    handle = makeServer()
    handle(request, response)
  }
  return {
    issuer,
    settings: {
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: clientId,
      OIDC_CLIENT_SECRET: clientSecret,
      OIDC_ROLES: 'staff=viewer,ops=admin,growth=editor@demo'
    },
    get person() {
      return state.person
    },
    set person(person) {
      state.person = person
    },
    start,
    stop
  }
}
