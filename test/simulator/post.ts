import { request } from 'node:https'

/** One POST over HTTP/1.1 and TLS with a given authority, which fetch does not offer. */
export const post = (url: string, ca: string, headers: Record<string, string>, body: string) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const outgoing = request(url, { method: 'POST', ca, headers, agent: false, timeout: 30_000 }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode!, text }))
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
