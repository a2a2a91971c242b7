export { createMcp, type Mcp } from './lazy.ts'
export { checkOrigin } from './origin.ts'
export { mcpRoutes } from './routes.ts'
