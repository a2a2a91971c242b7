/** The id of a message, which the response to it repeats; null if the message has none that JSON-RPC and MCP allow. */
export const idOf = ({ id }: Record<string, unknown>): string | number | null =>
  typeof id === 'string' || (typeof id === 'number' && Number.isInteger(id)) ? id : null
