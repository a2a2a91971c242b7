import assert from 'node:assert/strict'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OlderStdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as OlderHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Json } from '../support/http.ts'

/** The unmodified official clients: the current one with both of its protocols, and the one of the older line. */
export const lines = ['2.4.0', '2.4.0 without negotiation', '1.32.2'] as const
export type Line = (typeof lines)[number]

export type AnyClient = Client | OlderClient

interface Command {
  command: string
  args: string[]
  env: Record<string, string>
}

const info = { name: 'tester', version: '1' }
const current = (line: Line) =>
  new Client(info, { versionNegotiation: { mode: line === '2.4.0' ? { pin: '2026-07-28' } : 'legacy' } })

export async function overHttp(line: Line, url: string, headers: Record<string, string>): Promise<AnyClient> {
  const address = new URL('/mcp', url)
  if (line === '1.32.2') {
    const client = new OlderClient(info)
    // Its types are not made for exactOptionalPropertyTypes.
    await client.connect(new OlderHttp(address, { requestInit: { headers } }) as Parameters<OlderClient['connect']>[0])
    return client
  }
  const client = current(line)
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }))
  return client
}

export async function overStdio(line: Line, command: Command): Promise<AnyClient> {
  if (line === '1.32.2') {
    const client = new OlderClient(info)
    await client.connect(new OlderStdio({ ...command, stderr: 'pipe' }))
    return client
  }
  const client = current(line)
  await client.connect(new StdioClientTransport({ ...command, stderr: 'pipe' }))
  return client
}

/** The data of a tool call that succeeds. */
export async function done(client: AnyClient, name: string, args: Json): Promise<Json> {
  const result = (await client.callTool({ name, arguments: args })) as Json
  assert.ok(!result.isError, JSON.stringify(result.content))
  assert.deepEqual(JSON.parse(result.content.at(-1).text), result.structuredContent)
  return result.structuredContent
}

/** The sentence of a tool call that fails, and the data beside it. */
export async function refused(client: AnyClient, name: string, args: Json): Promise<{ reason: string; data: Json }> {
  const result = (await client.callTool({ name, arguments: args })) as Json
  assert.equal(result.isError, true, JSON.stringify(result))
  const [reason, data] = result.content.map(({ text }: Json) => text)
  return { reason, data: data === undefined ? undefined : JSON.parse(data) }
}
