import type { CardFacts } from './dialect.ts'

const about = 'A secret key of the project; it starts with svc_sk_.'
const modes = {
  defaultInputModes: ['text/plain', 'application/json'],
  defaultOutputModes: ['application/json', 'text/plain']
}

/**
 * The card in version 1.0, without fields that 1.0 does not have. Only this card is signed, because 1.0 defines the
 * form to sign.
 */
export function currentCard(facts: CardFacts) {
  const card = unsigned(facts)
  return facts.signaturesOf ? { ...card, signatures: facts.signaturesOf(card) } : card
}

const unsigned = (facts: CardFacts) => ({
  name: 'Tidings Agent',
  description: facts.description,
  supportedInterfaces: interfaces(facts),
  provider: provider(facts),
  version: facts.version,
  capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true, ...extensions(facts) },
  securitySchemes: { apiKey: { apiKeySecurityScheme: { name: 'X-API-Key', location: 'header', description: about } } },
  securityRequirements: [{ schemes: { apiKey: { list: [] } } }],
  ...modes,
  skills: facts.skills
})

/** The card in version 0.3, for clients of 0.3. */
export const legacyCard = (facts: CardFacts) => ({
  name: 'Tidings Agent',
  description: facts.description,
  url: facts.url,
  provider: provider(facts),
  version: facts.version,
  capabilities: { streaming: true, pushNotifications: true, stateTransitionHistory: true, ...extensions(facts) },
  securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: about } },
  security: [{ apiKey: [] }],
  ...modes,
  skills: facts.skills,
  preferredTransport: 'JSONRPC',
  additionalInterfaces: [{ url: facts.url, transport: 'JSONRPC' }],
  protocolVersion: '0.3.0',
  supportsAuthenticatedExtendedCard: true
})

/** The card for clients that name no version: the fields of 0.3, with the address of 1.0 added. */
export const hybridCard = (facts: CardFacts) => ({ ...legacyCard(facts), supportedInterfaces: interfaces(facts) })

const interfaces = ({ url, tenant }: CardFacts) => [
  { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0', ...(tenant !== undefined && { tenant }) }
]
const extensions = ({ extension }: CardFacts) => extension && { extensions: [extension] }
const provider = ({ baseUrl }: CardFacts) => ({ organization: 'Tidings', url: baseUrl })
