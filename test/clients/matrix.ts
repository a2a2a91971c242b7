import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface Client {
  name: string
  program: string
  /** The client itself first, then the packages that it needs. */
  packages: Record<string, string>
  legacyPeers?: boolean
  /** How its user adds the key. */
  key: string
  /** The steps that this version passes. */
  passes: string[]
  note: string
}

export const steps = ['card', 'find', 'preview', 'question', 'broadcast', 'why']

export const readClients = async (): Promise<Client[]> =>
  JSON.parse(await readFile(join(import.meta.dirname, 'clients.json'), 'utf8'))

export const versionOf = ({ packages }: Client): string => Object.values(packages)[0]!

/** The page docs/reference/agent-clients.md. */
export function printMatrix(clients: Client[]): string {
  const lines = clients.map((client) => {
    const results = steps.map((step) => (client.passes.includes(step) ? 'yes' : '–'))
    return `| ${[client.name, versionOf(client), ...results, client.key, client.note].join(' | ')} |`
  })
  return `# Clients that were tested

Other people's A2A clients, as npm has them, talk to Tidings by plain texts. Each is asked for the same: read the card; find a
user; preview a campaign; trigger it for everyone, which is answered by a question; say yes; ask why a user did not get it.

| Client | Version | Card | Find | Preview | Question | Yes | Why | Key by | Note |
|---|---|---|---|---|---|---|---|---|---|
${lines.join('\n')}

A dash means that the client cannot do it, for the reason in the note. Their code is unmodified; \`Key by\` says how the key was
added. No model takes part: the remote agent of each package gets the texts directly. The official
SDK, \`@a2a-js/sdk\` 1.3.0 and 0.3.14, does all of it in the usual test run (\`test/a2a/walk.test.ts\`).

This page is written by the command that tests it. It installs the clients, about 1 GB, into \`~/.cache/tidings-clients\`, or
into the folder that \`TIDINGS_CLIENTS_DIR\` names:

\`\`\`sh
npm run test:clients
\`\`\`

With \`CLIENT=@google/adk\` it runs one client, and prints what the client saw.
`
}
