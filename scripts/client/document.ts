import type { Capabilities } from '../../src/capabilities.ts'
import { healthRoutes } from '../../src/health.ts'
import { buildOpenApi, type OpenApi } from '../../src/platform/http/openapi/openapi.ts'
import { publicOpenApi } from '../../src/platform/http/openapi/public.ts'
import type { DocumentedRoute } from '../../src/platform/http/route.ts'
import { routesOn } from '../../src/platform/http/routes.ts'
import type { Http } from '../../src/platform/http/server.ts'
import { schemaNames } from '../../src/schema-names.ts'
import { mountSurfaces } from '../../src/surfaces.ts'

/**
 * /openapi.json without a service: routes are declared and never called, so nothing that they would use has to exist. A
 * test compares the printed client with the document of a running service.
 */
export function publicDocument(): OpenApi {
  const documented: DocumentedRoute[] = []
  const http = {
    documented,
    app: anything,
    timeLimit: anything,
    shares: anything,
    answered: () => anything,
    direct: anything
  } as unknown as Http
  // A spread copies own fields only.
  const capabilities = new Proxy({ doors: anything, members: anything }, { get: () => anything }) as Capabilities
  const open = routesOn<null, never>(http, [{ prefix: '', security: 'none', admit: () => null }])
  healthRoutes(open, anything)
  mountSurfaces(http, capabilities, anything)
  return publicOpenApi(buildOpenApi(documented, 'http://127.0.0.1:8080'), schemaNames)
}

/** Has every field, each of which is again anything; so has every result of calling it. An empty list for loops. */
// biome-ignore lint/suspicious/noExplicitAny: it stands for values of every type.
const anything: any = new Proxy(() => {}, {
  get: (_, name) =>
    name === Symbol.iterator ? () => [][Symbol.iterator]() : name === Symbol.toPrimitive ? () => '' : anything,
  apply: () => anything
})
