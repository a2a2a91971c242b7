import type { Action } from './registry.ts'

const effects: Record<Action['effect'], string> = {
  read: 'reads',
  write: 'writes',
  send: 'reaches people',
  stop: 'stops a trigger'
}

/** Prints /llms.txt, which describes the service to language models. `docs` lists the pages of its docs. */
export const printLlms = (actions: readonly Action[], baseUrl: string, docs: string): string => `# Tidings

> A messaging and user service: users and their properties, events, push notifications and campaigns. Agents use it over
> A2A or MCP, programs over REST, each with a secret key of a project (svc_sk_…).

## Agents

- [Agent card](${baseUrl}/.well-known/agent-card.json): the A2A agent, versions 1.0 and 0.3. Calls go to ${baseUrl}/a2a with
  the header X-API-Key.
- [Schemas](${baseUrl}/a2a/schemas): every skill with JSON Schemas of its input and output, and an example.
- MCP: ${baseUrl}/mcp has the same skills as tools, with the header Authorization: Bearer.

Send data with the field skill rather than words. Look before you act: preview a campaign before you trigger it.

## Skills

${actions.map(({ id, description, effect }) => `- [${id}](${baseUrl}/a2a/schemas/${id}.input.json) (${effects[effect]}): ${description}`).join('\n')}

## REST

- [API](${baseUrl}/docs/api): every route with examples.
- [OpenAPI](${baseUrl}/openapi.json): the same for programs.

## Docs

Each link is a page as Markdown. [All pages in one file](${baseUrl}/llms-full.txt), without the decision records.

${docs}`
