import { once } from 'node:events'
import { createServer } from 'node:net'
import { OperatorError } from '../errors.ts'

/** Checks that the port is free before the start takes a step that cannot be repeated, such as showing keys once. */
export async function checkAddress(host: string, port: number): Promise<void> {
  const server = createServer().listen({ host, port })
  try {
    await once(server, 'listening')
  } catch (error) {
    throw cannotListen(error as NodeJS.ErrnoException, host, port)
  }
  server.close()
  await once(server, 'close')
}

export function cannotListen(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is taken by another program. Stop it, or set PORT to another port.`,
    EACCES: `Port ${port} may not be opened by this user. Set PORT to one above 1023.`,
    EADDRNOTAVAIL: `${host} is not an address of this machine. Set HOST to one that is.`,
    ENOTFOUND: `${host} cannot be resolved. Set HOST to an address of this machine.`
  }
  const reason = reasons[error.code ?? '']
  return reason ? new OperatorError(reason, 1, { cause: error }) : error
}
