// The least work for such a call: read it, parse it, respond with it.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { id, params } = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: params }))
  })
}).listen(0, '127.0.0.1', () => {
  console.log(`is ready at http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
