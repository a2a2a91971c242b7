import {
  type AuthInfo,
  createMcpHandler,
  isSpecType,
  ProtocolError,
  ProtocolErrorCode,
  Server
} from '@modelcontextprotocol/server'
import { listActions } from '../a2a/a2a.ts'
import { isPassing } from '../platform/db/db.ts'
import { Refusal, Unavailable } from '../platform/errors.ts'
import { version } from '../platform/version.ts'
import type { Asked, McpOptions } from './asked.ts'
import { createCalls } from './calls.ts'
import { idOf } from './message-id.ts'
import { createFollow } from './progress.ts'
import { createResources } from './resources.ts'
import { mayUse, toolOf } from './tools.ts'

const instructions = `Tidings messages the users of one project: push notifications, and campaigns for many people.
Look before you act: find-user, list-campaigns and preview-campaign change nothing. A broadcast needs the confirmationId of
a preview. A result with isError says in its first text why nothing was done, or what is still missing.`

/** Makes the function that responds to messages of MCP, of the current protocol and of those before it. */
export function createHandler(options: McpOptions, stopping: AbortSignal) {
  const { agents, triggers, log } = options
  const call = createCalls({
    agents,
    follow: createFollow(triggers, stopping)
  })
  const resources = createResources(options)
  const tools = listActions().map(toolOf)

  /** Faults of ours are logged, and the client learns no more than that there was one. */
  const guarded =
    <Given, Context, Result>({ putOff }: Asked, handle: (given: Given, context: Context) => Promise<Result>) =>
    async (given: Given, context: Context): Promise<Result> => {
      try {
        return await handle(given, context)
      } catch (error) {
        if (error instanceof ProtocolError) throw error
        const passing = error instanceof Unavailable || error instanceof Refusal || isPassing(error)
        log[passing ? 'warn' : 'error']({ error }, 'a request of MCP failed')
        if (passing) putOff()
        throw new ProtocolError(ProtocolErrorCode.InternalError, 'The service could not do this now. Try again later.')
      }
    }

  function serverFor(asked: Asked): Server {
    const server = new Server(
      { name: 'tidings', title: 'Tidings', version },
      { capabilities: { tools: {}, resources: {} }, instructions }
    )
    server.setRequestHandler('tools/list', async () => ({
      tools: tools.filter(({ name }) => mayUse(asked.caller, name))
    }))
    server.setRequestHandler(
      'tools/call',
      guarded(asked, async ({ params }, context) => call(asked, params.name, params.arguments ?? {}, context))
    )
    server.setRequestHandler(
      'resources/list',
      guarded(asked, async () => resources.list(asked.caller))
    )
    server.setRequestHandler('resources/templates/list', async () => resources.templates)
    server.setRequestHandler(
      'resources/read',
      guarded(asked, async ({ params }) => resources.read(asked.caller, params.uri))
    )
    return server
  }

  const handler = createMcpHandler(({ authInfo }) => serverFor(authInfo!.extra as unknown as Asked), {
    onerror: (error) => log.debug({ error: error.message }, 'MCP refused a request')
  })
  return async (request: Request, message: Message, asked: Asked): Promise<Response> =>
    isWrong(message)
      ? invalidParams(message)
      : handler.fetch(request, { parsedBody: message, authInfo: authInfoOf(asked) })
}

type Message = Record<string, unknown>

/** The methods that take parameters, by the type that the package has for their messages. */
const typeOf = new Map<unknown, (message: unknown) => boolean>([
  ['initialize', isSpecType.InitializeRequest],
  ['ping', isSpecType.PingRequest],
  ['tools/list', isSpecType.ListToolsRequest],
  ['tools/call', isSpecType.CallToolRequest],
  ['resources/list', isSpecType.ListResourcesRequest],
  ['resources/templates/list', isSpecType.ListResourceTemplatesRequest],
  ['resources/read', isSpecType.ReadResourceRequest]
])

/** Whether parameters have another form than the method takes. The package would take that for a fault of the service. */
const isWrong = (message: Message): boolean => typeOf.get(message.method)?.(message) === false

function invalidParams(message: Message): Response {
  const reason = `The parameters of ${message.method} have a wrong form.`
  const error = { code: ProtocolErrorCode.InvalidParams, message: reason }
  return Response.json({ jsonrpc: '2.0', id: idOf(message), error })
}

/** The package passes this on untouched. The key itself has been checked and is not needed any more. */
const authInfoOf = (asked: Asked): AuthInfo => ({
  token: '',
  clientId: asked.caller.actor,
  scopes: [],
  extra: { ...asked }
})
