import { Refusal } from '../platform/errors.ts'

/**
 * Refuses pages that are not listed. A browser says which page calls, and a page can make its own name point to this
 * machine, so that the browser takes the service for the page's server.
 */
export function checkOrigin(origin: string | undefined, allowed: readonly string[]): void {
  if (origin !== undefined && !allowed.includes(origin))
    throw new Refusal(
      'forbidden',
      'Pages of this origin may not call MCP. The setting A2A_ORIGINS lists those that may.'
    )
}
