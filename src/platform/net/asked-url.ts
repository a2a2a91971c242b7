import type { FastifyRequest } from 'fastify'

/**
 * The address that a request was sent to. The caller chooses the Host header, and the address is inserted into markup,
 * shell lines and links, so only an address passes, and only with characters of one.
 */
export function askedUrl({ protocol, host }: Pick<FastifyRequest, 'protocol' | 'host'>): string {
  const base = `${protocol}://${host}`
  return /^https?:\/\/[\w.:[\]-]+$/.test(base) && URL.canParse(base) ? base : 'http://localhost'
}
