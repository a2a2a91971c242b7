import type { Asked, McpOptions } from './asked.ts'

export type Mcp = ReturnType<typeof createMcp>

/** Serves MCP to agents: tools for all skills, and resources. Each request stands alone, so any node can serve it. */
export function createMcp(options: McpOptions) {
  const stopping = new AbortController()
  let loaded: Promise<Awaited<ReturnType<typeof load>>> | undefined
  // The package takes 0.2 s and 30 MB, which a service without such clients does not spend.
  const load = async () => (await import('./handler.ts')).createHandler(options, stopping.signal)

  return {
    /** The response to one message, which was parsed before. */
    async answer(request: Request, message: Record<string, unknown>, asked: Asked): Promise<Response> {
      loaded ??= load()
      return (await loaded)(request, message, asked)
    },
    /** Calls that wait for a trigger return, so that the server can stop. */
    endStreams: async () => stopping.abort()
  }
}
